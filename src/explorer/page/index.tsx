import { render } from "preact";
import { App } from "./app.tsx";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/frame.css";

render(<App />, document.getElementById("page") as HTMLElement);
