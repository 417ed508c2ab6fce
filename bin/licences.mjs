// The licences of what the package holds of others: MIT, BSD, ISC and Apache all ask that their text goes with the code.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const RULE = `\n${'-'.repeat(80)}\n\n`;
const GRANT = /Permission is hereby granted|Redistribution and use/;

/**
 * The text of THIRD-PARTY-LICENSES: which packages the files of dist/ hold, which ones npm installs beside them, and the
 * licences of the first. `folders` are those of the packages that were bundled, `locked` the packages of
 * package-lock.json. Throws where a bundled package has no licence text that could be found.
 */
export function licences(root, folders, locked) {
  const bundled = uniquely(folders.map((folder) => readPackage(root, folder)));
  const beside = uniquely(
    Object.entries(locked)
      .filter(([path, { dev }]) => path !== '' && dev !== true)
      .map(([path, { name, version, license }]) => ({ title: `${name ?? nameAt(path)} ${version}, ${license}` })),
  ).filter(({ title }) => !bundled.some((each) => each.title === title));
  return [
    `Parts of other packages are in the files of dist/:\n\n${titles(bundled)}\n\nTheir licences are below.\n`,
    `${BESIDE}\n\n${titles(beside)}\n`,
    ...bundled.map((each) => `${each.title}\n\n${each.text ?? standardText(root, each, bundled)}\n`),
  ].join(RULE);
}

/** What the text says of packages that are no part of the npm package. */
export const BESIDE = `npm installs these beside molar, those of them that fit the machine and its Node, each with its own licence in its
folder. They are not part of this package. Machine code that is under the LGPL, libvips for images, is a library of its
own file that is loaded when an image is cut or scaled; it can be replaced by another build of it.`;

const titles = (packages) => packages.map(({ title }) => title).join('\n');

const nameAt = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** What package-lock.json calls a package at a path, `name@version`: its own name, also where an alias names its folder. */
export const packageAt = (path, { name, version }) => `${name ?? nameAt(path)}@${version}`;

/**
 * The folders of the packages that files lie in, as package-lock.json has them, also where node_modules is a link to
 * that of another checkout; files of our own are in none.
 */
export function foldersOf(inputs) {
  const folders = inputs.map(
    (path) => /(?<![^/])node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path)?.[0],
  );
  return [...new Set(folders)].filter((folder) => folder !== undefined);
}

function uniquely(packages) {
  return [...new Map(packages.map((each) => [each.title, each])).values()].sort((a, b) => (a.title < b.title ? -1 : 1));
}

function readPackage(root, folder) {
  const path = join(root, folder);
  const { name, version, license, author } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  const title = `${name} ${version}, ${license}`;
  return { title, license, author: author?.name ?? author, text: ownText(path) };
}

/** The licence that lies in the folder of a package, or is the end of its README. */
function ownText(folder) {
  const files = readdirSync(folder).sort();
  const texts = files
    .filter((file) => /^(?:licen[cs]e|copying|notice)(?!.*\.[cm]?[jt]s$)/i.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length > 0) return texts.join('\n\n');
  const readme = files.find((file) => /^readme/i.test(file));
  const [, section] =
    /^#+ *licen[cs]e\s*$([\s\S]*)/im.exec(readme ? readFileSync(join(folder, readme), 'utf8') : '') ?? [];
  return section !== undefined && GRANT.test(section) ? section.trim() : undefined;
}

/** For a package that names its licence and forgot its text: the Apache licence is the same for all, MIT names a holder. */
function standardText(root, { title, license, author }, others) {
  if (license === 'Apache-2.0') {
    const same = others.find(
      (other) => other.license === license && other.text?.includes('END OF TERMS AND CONDITIONS'),
    );
    if (same !== undefined) return same.text;
  }
  if (license === 'MIT' && typeof author === 'string') {
    const holder = author.replace(/\s*[<(].*$/, '');
    return readFileSync(join(root, 'LICENSE'), 'utf8')
      .trim()
      .replace(/^Copyright.*$/m, () => `Copyright (c) ${holder}`);
  }
  throw new Error(`No licence text is known for ${title}.`);
}
