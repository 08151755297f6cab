/** What `npm start` of the repository says before the dev server starts. */
console.log(
  "An example site for photos. When it is ready, open its address in a browser and drop pictures on the page.\n" +
    "Ctrl+C ends the server; examples/photos/README.md says more.",
);
