/**
 * Icons, from Lucide: the build takes the paths of these icons only. An icon stands beside a text or in
 * a button with a label, so that screen readers skip the icon.
 */
import * as lucide from "lucide";
import { h } from "preact";

const icons = {
  alert: lucide.TriangleAlert,
  archive: lucide.FileArchive,
  audio: lucide.FileMusic,
  bucket: lucide.Archive,
  check: lucide.Check,
  close: lucide.X,
  code: lucide.FileCode,
  copy: lucide.Copy,
  delete: lucide.Trash2,
  down: lucide.ChevronDown,
  download: lucide.Download,
  edit: lucide.Pencil,
  external: lucide.ExternalLink,
  fault: lucide.Zap,
  file: lucide.File,
  folder: lucide.Folder,
  image: lucide.FileImage,
  json: lucide.FileBraces,
  key: lucide.KeyRound,
  keyboard: lucide.Keyboard,
  live: lucide.Activity,
  more: lucide.Ellipsis,
  moon: lucide.Moon,
  move: lucide.FolderInput,
  new: lucide.Plus,
  pause: lucide.Pause,
  play: lucide.Play,
  reload: lucide.RefreshCw,
  right: lucide.ChevronRight,
  search: lucide.Search,
  sortAscending: lucide.ArrowUp,
  sortDescending: lucide.ArrowDown,
  state: lucide.History,
  sun: lucide.Sun,
  system: lucide.Monitor,
  text: lucide.FileText,
  upload: lucide.Upload,
  video: lucide.FileVideoCamera,
  zone: lucide.Globe,
} as const;

export type IconName = keyof typeof icons;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {icons[name].map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}
