/** What `npm start` of the repository says before the dev server starts. */
console.log(
  "An example site for photos. When it is ready, open its address in a browser and drop pictures on the page.\n" +
    "The address after Explorer shows the stored pictures and each request. Ctrl+C ends the server;\n" +
    "examples/photos/README.md says more.",
);
