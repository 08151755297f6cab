/** A project with the data of the documentation's pictures: photos, settings, a zone, and activity. */
import type { Page } from "playwright-core";
import type { S3TestClient } from "../../s3/support/s3-client.ts";
import { put } from "./contents.ts";
import { askByHttp, recordApiOf } from "./programs.ts";
import type { ServedProject } from "./served-project.ts";

const texts: Readonly<Record<string, readonly [content: string, contentType: string]>> = {
  "readme.md": ["# Photos\n\nOriginals and thumbnails of the gallery.\n", "text/markdown"],
  "settings.json": [
    JSON.stringify({ title: "Gallery", albums: ["alps", "coast"], pageSize: 24, public: true }),
    "application/json",
  ],
  "albums/alps/album.json": [JSON.stringify({ title: "Alps", year: 2026 }), "application/json"],
  "albums/coast/album.json": [JSON.stringify({ title: "Coast", year: 2026 }), "application/json"],
  "thumbnails/alps/sunrise.webp": ["a thumbnail", "image/webp"],
};

/** The names of pictures in the folder that the documentation shows. */
const pictures = ["glacier", "lake", "ridge", "sunrise", "valley"];
export const shownPicture = "albums/alps/sunrise.png";

/** @param page draws the pictures */
export async function fillBuckets(project: ServedProject, page: Page): Promise<void> {
  for (const [key, [content, contentType]] of Object.entries(texts)) {
    await put(project, "photos", key, content, contentType);
  }
  for (const [index, name] of pictures.entries()) {
    const picture = await drawMountains(page, index);
    await put(project, "photos", `albums/alps/${name}.png`, picture, "image/png");
  }
  await put(project, "backup", "2026-08-01.tar.gz", new Uint8Array(48_200), "application/gzip");
}

export async function fillZone(project: ServedProject): Promise<void> {
  const api = await recordApiOf(project);
  const zones = (await api.ok("GET", "/zones?name=example.com")) as { id: string }[];
  const records = [
    { type: "A", name: "@", content: "192.0.2.10", proxied: true },
    { type: "AAAA", name: "@", content: "2001:db8::10", proxied: true },
    { type: "CNAME", name: "www", content: "example.com", proxied: true },
    { type: "A", name: "api", content: "192.0.2.20", ttl: 300, comment: "The script" },
    { type: "CNAME", name: "photos", content: "api.example.com", ttl: 300 },
    { type: "MX", name: "@", content: "mail.example.com", priority: 10, ttl: 3600 },
    { type: "A", name: "mail", content: "192.0.2.30", ttl: 3600 },
    { type: "TXT", name: "@", content: '"v=spf1 mx -all"', ttl: 3600 },
    {
      type: "CAA",
      name: "@",
      data: { flags: 0, tag: "issue", value: "letsencrypt.org" },
      ttl: 3600,
    },
    {
      type: "SRV",
      name: "_imaps._tcp",
      data: { priority: 1, weight: 5, port: 993, target: "mail.example.com" },
      ttl: 3600,
    },
  ];
  for (const record of records) {
    await api.ok("POST", `/zones/${zones[0]!.id}/dns_records`, record);
  }
}

/** What the pictures of the live view show: the last request is `GET /albums/alps/sunrise.png`. */
export async function makeActivity(project: ServedProject, s3: S3TestClient): Promise<void> {
  const send = async (key: string, init?: RequestInit): Promise<void> => {
    const response = await fetch(`${project.dev.url}/${key}`, init);
    await response.arrayBuffer();
  };
  await askByHttp(project, "photos.example.com", "A");
  await send("uploads/harbour.txt", { method: "PUT", body: "the harbour at noon" });
  await s3.send({ method: "GET", target: "/backup/2026-08-01.tar.gz" });
  await s3.send({ method: "PUT", target: "/backup/2026-08-02.tar.gz", body: "x".repeat(51_400) });
  await send("albums/alps/album.json");
  await send("albums/alps/missing.png");
  await askByHttp(project, "old.example.com", "AAAA");
  await send("albums/alps/lake.png");
  await send("settings.json");
  await send(shownPicture);
}

/** A sky with a sun behind ridges, by the canvas of a page. */
async function drawMountains(page: Page, variant: number): Promise<Uint8Array<ArrayBuffer>> {
  const base64 = await page.evaluate((seed) => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [640, 400];
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    const hue = 205 + seed * 23;
    // Bands rather than a gradient: the picture of the page stays small.
    for (let band = 0; band < 8; band++) {
      context.fillStyle = `hsl(${hue - band * 3} 70% ${52 + band * 5}%)`;
      context.fillRect(0, band * 50, 640, 50);
    }
    context.fillStyle = "hsl(42 95% 72%)";
    context.beginPath();
    context.arc(440 - seed * 60, 170, 48, 0, 7);
    context.fill();
    for (let ridge = 0; ridge < 4; ridge++) {
      context.fillStyle = `hsl(${hue + 10} 32% ${48 - ridge * 11}%)`;
      context.beginPath();
      context.moveTo(0, 400);
      for (let x = 0; x <= 640; x += 40) {
        const height = Math.abs(Math.sin(x * 0.9 + seed + ridge * 2.1)) * (90 - ridge * 14);
        context.lineTo(x, 200 + ridge * 48 - height + 30);
      }
      context.lineTo(640, 400);
      context.fill();
    }
    return canvas.toDataURL("image/png").split(",")[1] as string;
  }, variant);
  return new Uint8Array(Buffer.from(base64, "base64"));
}
