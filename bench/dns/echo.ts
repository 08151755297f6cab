/** The lower bound: a UDP socket of Node that echoes every packet. Argument: the port. */
import { createSocket } from "node:dgram";

const socket = createSocket("udp4");
socket.on("message", (message, { port, address }) => {
  // Sets the bits QR and AA.
  message[2]! |= 0x84;
  socket.send(message, port, address);
});
socket.bind(Number(process.argv[2]), "127.0.0.1");
process.once("SIGTERM", () => process.exit());
