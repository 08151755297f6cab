/**
 * The metadata forms that are open. They outlive the panel: nothing that was typed is lost when the
 * person looks at another object and returns. The browser asks before it closes the page.
 */
import { useState } from "preact/hooks";
import { isChanged, type MetadataEditing } from "./metadata-draft.ts";

/** By bucket and key. */
const forms = new Map<string, MetadataEditing>();

export interface MetadataForm {
  /** `null` while the form is closed. */
  readonly editing: MetadataEditing | null;
  readonly edit: (editing: MetadataEditing | null) => void;
  readonly isUnsaved: boolean;
}

/** @param place bucket and key */
export function useMetadataForm(place: string): MetadataForm {
  const [, setRound] = useState(0);
  const editing = forms.get(place) ?? null;
  return {
    editing,
    isUnsaved: editing !== null && isUnsaved(editing),
    edit: (next) => {
      if (next === null) forms.delete(place);
      else forms.set(place, next);
      // Adding the same listener again, or removing an absent one, does nothing.
      if ([...forms.values()].some(isUnsaved)) addEventListener("beforeunload", ask);
      else removeEventListener("beforeunload", ask);
      setRound((before) => before + 1);
    },
  };
}

function isUnsaved({ draft, base }: MetadataEditing): boolean {
  return isChanged(draft, base);
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
