#!/usr/bin/env node
// Writes man/ and its list in package.json anew from what is built: npm run man.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Config } from '@oclif/core/config';

const ROOT = resolve(import.meta.dirname, '..');
const MAN = join(ROOT, 'man');
const built = (path) => import(new URL(`../dist/${path}`, import.meta.url));

const { manual } = await built('cli/help/manual.js');
const { importPage } = await built('cli/help/importformat.js');
const { GLOBAL_KINDS, ORGANIZATION_KIND, RECORD_KINDS } = await built('server/import/kinds.js');
const pages = manual(await Config.load({ root: ROOT }), [importPage(GLOBAL_KINDS, ORGANIZATION_KIND, RECORD_KINDS)]);

rmSync(MAN, { recursive: true, force: true });
for (const [path, text] of pages) {
  const file = join(MAN, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
// npm makes pages known to man(1) only when each is named: it does not look into directories.man of a tarball or folder.
const PACKAGE = join(ROOT, 'package.json');
const own = JSON.parse(readFileSync(PACKAGE, 'utf8'));
own.man = [...pages.keys()].sort().map((path) => `man/${path}`);
writeFileSync(PACKAGE, `${JSON.stringify(own, null, 2)}\n`);
process.stderr.write(`${pages.size} pages written to man/\n`);
