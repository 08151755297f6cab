/** Notes in a bucket: `PUT` and `GET /notes/NAME`, and the names of all notes at `/notes/`. */
export default {
  async fetch(request, env): Promise<Response> {
    const name = decodeURIComponent(new URL(request.url).pathname.slice("/notes/".length));
    if (name === "") {
      const { objects } = await env.NOTES.list();
      return Response.json(objects.map(({ key }) => key));
    }
    if (request.method === "PUT") {
      await env.NOTES.put(name, request.body);
      return new Response(null, { status: 201 });
    }
    const note = await env.NOTES.get(name);
    return note === null ? new Response("No such note", { status: 404 }) : new Response(note.body);
  },
} satisfies ExportedHandler<Env>;
