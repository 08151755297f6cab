/** Light, dark, or as the system has it. The choice stays in the browser. */
import { useEffect, useState } from "preact/hooks";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];
const storageKey = "ledge-theme";

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (theme === "system") delete dataset["theme"];
    else dataset["theme"] = theme;
    localStorage.setItem(storageKey, theme);
  }, [theme]);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] as Theme;
  return (
    <button
      type="button"
      class="button quiet"
      aria-label={`Colours: ${theme}. Change to ${next}`}
      onClick={() => setTheme(next)}
    >
      {theme === "system" ? "◐" : theme === "light" ? "☀" : "☾"}
    </button>
  );
}

function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return themes.find((theme) => theme === stored) ?? "system";
}
