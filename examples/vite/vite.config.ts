import { ledge } from "ledge/vite";
import { defineConfig } from "vite";

export default defineConfig({ plugins: [ledge()] });
