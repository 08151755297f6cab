/** The page: saves notes, and lists them. */
const form = document.querySelector("form") as HTMLFormElement;
const list = document.querySelector("ul") as HTMLUListElement;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const { name, text } = Object.fromEntries(new FormData(form)) as Record<string, string>;
  await fetch(`/notes/${encodeURIComponent(String(name))}`, { method: "PUT", body: text ?? "" });
  form.reset();
  await show();
});

async function show(): Promise<void> {
  const names = (await (await fetch("/notes/")).json()) as string[];
  list.replaceChildren(
    ...names.map((name) => {
      const link = document.createElement("a");
      link.href = `/notes/${encodeURIComponent(name)}`;
      link.textContent = name;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
}

void show();
