/** Asks for another name of one object. */
import { useState } from "preact/hooks";
import type { CopyTask } from "../../api/tasks.ts";
import { renameTarget } from "../objects/copy-target.ts";
import { lastSegment } from "../objects/folder-path.ts";
import { Dialog } from "./dialog.tsx";
import { TargetForm } from "./target-form.tsx";

interface RenameDialogProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly onClose: () => void;
  /** @throws ApiCallError */
  readonly onStart: (task: CopyTask) => Promise<void>;
}

export function RenameDialog({ bucket, objectKey, onClose, onStart }: RenameDialogProps) {
  const [typed, setTyped] = useState(lastSegment(objectKey));
  return (
    <Dialog title="Rename 1 object" onClose={onClose}>
      <TargetForm
        label="Name"
        hint="A name with / moves the object into a folder below this folder."
        submitLabel="Rename"
        typed={typed}
        target={renameTarget(objectKey, typed)}
        onType={setTyped}
        onClose={onClose}
        onSubmit={(key, overwrite) =>
          onStart({
            kind: "move",
            bucket,
            keys: [objectKey],
            prefixes: [],
            to: { bucket, key },
            overwrite,
          })
        }
      />
    </Dialog>
  );
}
