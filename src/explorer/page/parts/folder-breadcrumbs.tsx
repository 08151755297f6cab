/** The way from all buckets to a folder. */
import { bucketPlace } from "../location.ts";
import { breadcrumbs } from "../objects/folder-path.ts";
import { Link } from "./link.tsx";

interface FolderBreadcrumbsProps {
  readonly bucket: string;
  readonly folder: string;
}

export function FolderBreadcrumbs({ bucket, folder }: FolderBreadcrumbsProps) {
  const crumbs = [{ name: bucket, prefix: "" }, ...breadcrumbs(folder)];
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol>
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
