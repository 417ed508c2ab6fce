// The list of materials, sbom.json (CycloneDX), as npm writes it of package-lock.json, made to fit the package.
import { createHash } from 'node:crypto';
import { packageAt } from './licences.mjs';

/** What npm has to be asked for. Everything: what is bundled into dist/ is installed for development alone. */
export const SBOM_ARGUMENTS = [
  'sbom',
  '--package-lock-only',
  '--sbom-format=cyclonedx',
  '--sbom-type=application',
  '--include=dev',
  '--include=optional',
  '--include=peer',
];

/**
 * The text of sbom.json: the packages that are bundled, with `cdx:npm:package:bundled`, and those that npm installs
 * beside molar. `printed` is what npm printed, `own` package.json, `locked` the packages of package-lock.json, `folders`
 * those of them that are bundled. The same lock file and npm give the same bytes: the serial number is a digest, and the
 * time is that of SOURCE_DATE_EPOCH (seconds), or left out.
 */
export function billOfMaterials(printed, own, locked, folders, epoch) {
  const { $schema, bomFormat, specVersion, version, metadata, components, dependencies } = JSON.parse(printed);
  const installed = Object.entries(locked).filter(([path, { dev }]) => path !== '' && dev !== true);
  const needed = installed.filter(([, { optional, devOptional }]) => optional !== true && devOptional !== true);
  const refsOf = (entries) => new Set(entries.map(([path, entry]) => packageAt(path, entry)));
  const bundled = refsOf(folders.map((path) => [path, locked[path]]));
  const shipped = new Set([...bundled, ...refsOf(installed)]);
  const required = new Set([...bundled, ...refsOf(needed)]);
  const root = metadata.component['bom-ref'];
  const body = {
    version,
    metadata: {
      ...(epoch === undefined ? {} : { timestamp: new Date(Number(epoch) * 1000).toISOString() }),
      lifecycles: metadata.lifecycles,
      tools: metadata.tools,
      // npm gives the name of the folder, which is whatever the clone was called.
      component: { ...metadata.component, name: own.name },
    },
    components: components
      .filter((component) => shipped.has(component['bom-ref']))
      .map((component) => ({
        ...component,
        // npm gives the name of the folder, which may be an alias.
        name: component['bom-ref'].slice(0, component['bom-ref'].lastIndexOf('@')),
        // To npm all that is bundled is for development, and so may be the copy that stands for several.
        scope: required.has(component['bom-ref']) ? 'required' : 'optional',
        properties: [
          ...component.properties.filter(({ name }) => name !== DEVELOPMENT && name !== BUNDLED),
          ...(bundled.has(component['bom-ref']) ? [{ name: BUNDLED, value: 'true' }] : []),
        ],
      })),
    dependencies: dependencies
      .filter(({ ref }) => ref === root || shipped.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => shipped.has(each)) })),
  };
  return sealed({ $schema, bomFormat, specVersion }, body);
}

/** The text of a list of materials: what it begins with, a serial number that is a digest of the rest, and the rest. */
export function sealed(head, body) {
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  return `${JSON.stringify({ ...head, serialNumber, ...body }, null, 2)}\n`;
}

const DEVELOPMENT = 'cdx:npm:package:development';
const BUNDLED = 'cdx:npm:package:bundled';

/** A UUID of version 8 (RFC 9562): the digest of a text, with the bits that tell the version. */
function uuidOf(text) {
  const digest = createHash('sha256').update(text).digest('hex');
  const variant = (8 | (Number.parseInt(digest.slice(16, 17), 16) & 3)).toString(16);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}
