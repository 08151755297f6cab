/** The floor: a UDP socket of Node's that sends back what it gets. Arguments: the port. */
import { createSocket } from "node:dgram";

const socket = createSocket("udp4");
socket.on("message", (message, { port, address }) => {
  // The bit that makes it a response, and the one that makes it authoritative.
  message[2]! |= 0x84;
  socket.send(message, port, address);
});
socket.bind(Number(process.argv[2]), "127.0.0.1");
process.once("SIGTERM", () => process.exit());
