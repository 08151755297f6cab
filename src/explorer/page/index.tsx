// The styles of views come after these.
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/frame.css";
import { render } from "preact";
import { App } from "./app.tsx";

render(<App />, document.getElementById("page") as HTMLElement);
