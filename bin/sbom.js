// The list of materials, sbom.json (CycloneDX), as npm writes it of package-lock.json, made to fit the package.
import { createHash } from 'node:crypto';
import { nameAt } from './licences.js';

/**
 * What npm has to be asked for. Everything, also what is for development alone: with `--omit dev` npm leaves out each
 * package that development needs too, half of what is shipped.
 */
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
 * The text of sbom.json: the packages that are shipped or installed for people who use molar. `printed` is what npm
 * printed, `own` package.json, `locked` the packages of package-lock.json. The same lock file and npm give the same
 * bytes: the serial number is a digest, and the time is that of SOURCE_DATE_EPOCH (seconds), or left out.
 */
export function billOfMaterials(printed, own, locked, epoch) {
  const { $schema, bomFormat, specVersion, version, metadata, components, dependencies } = JSON.parse(printed);
  const shipped = new Set(
    Object.entries(locked)
      .filter(([path, { dev }]) => path !== '' && dev !== true)
      .map(([path, { version }]) => `${nameAt(path)}@${version}`),
  );
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
      // The first of two copies stands for both, and may be the one that only development needs.
      .map((component) => ({
        ...component,
        properties: component.properties.filter(({ name }) => name !== DEVELOPMENT),
      })),
    dependencies: dependencies
      .filter(({ ref }) => ref === root || shipped.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => shipped.has(each)) })),
  };
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(body))}`;
  return `${JSON.stringify({ $schema, bomFormat, specVersion, serialNumber, ...body }, null, 2)}\n`;
}

const DEVELOPMENT = 'cdx:npm:package:development';

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
