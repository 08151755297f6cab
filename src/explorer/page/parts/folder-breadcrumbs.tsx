/** The way from all buckets to a folder. */
import { useEffect, useRef } from "preact/hooks";
import { bucketPlace } from "../location.ts";
import { breadcrumbs } from "../objects/folder-path.ts";
import { Link } from "./link.tsx";

interface FolderBreadcrumbsProps {
  readonly bucket: string;
  readonly folder: string;
}

export function FolderBreadcrumbs({ bucket, folder }: FolderBreadcrumbsProps) {
  const crumbs = [{ name: bucket, prefix: "" }, ...breadcrumbs(folder)];
  const crumbList = useRef<HTMLOListElement>(null);
  // A deep folder has more lines than are shown: its own name is on the last line. A layout effect would
  // compute the layout of the view before the list is requested.
  useEffect(() => crumbList.current?.scrollTo(0, crumbList.current.scrollHeight), [folder]);
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol ref={crumbList}>
        <li>
          <Link to={{ view: "buckets" }}>Buckets</Link>
        </li>
        {crumbs.map(({ name, prefix }) => (
          <li key={prefix} title={name}>
            {prefix === folder ? (
              <h1 aria-current="page">
                <CrumbName name={name} />
              </h1>
            ) : (
              <Link to={bucketPlace(bucket, prefix)}>
                <CrumbName name={name} />
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}

function CrumbName({ name }: { readonly name: string }) {
  return name === "" ? <i>(no name)</i> : <bdi>{name}</bdi>;
}
