#!/usr/bin/env node
// `npm run test:branches -- [ROOM …]`: whether the tests of a room, alone, take every branch of its code. The exit code is
// 1 when they do not; each branch that they miss is listed.
import '../../bin/oldnode.mjs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { IN_PROCESS, vitest } from '../../bin/vitest.mjs';
import { ROOMS } from './rooms.mjs';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * The right side of `??` where what stands left of it is always there, which the types of an array or a map do not say.
 * Whether such a default is ever used, test:mutants shows.
 */
const DEFAULT = /^ ?(0n?|''|\{\}|\[\]|false)[^\w.]/;

/** Runs the tests of a room, and gives its coverage by file as Istanbul writes it; undefined when they fail. */
async function covered(name) {
  const folder = `coverage/branches/${name}`;
  const { code, tests } = ROOMS[name];
  const settings = ['enabled', 'reporter=json', `reportsDirectory=${folder}`, ...code.map((glob) => `include=${glob}`)];
  const flags = settings.map((setting) => `--coverage.${setting}`);
  if ((await vitest([...IN_PROCESS, ...flags, ...tests])) !== 0) return undefined;
  return JSON.parse(await readFile(join(ROOT, folder, 'coverage-final.json'), 'utf8'));
}

/** How many branches a file has, and where those stand that were never taken. */
async function branchesOf(path, { b: counts, branchMap }) {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const found = { all: 0, missed: [] };
  for (const [id, taken] of Object.entries(counts)) {
    for (const [at, times] of taken.entries()) {
      const { loc, type, locations } = branchMap[id];
      // An `if` without `else` has no place of its own for it.
      const { start } = locations[at].start.line === undefined ? loc : locations[at];
      const line = lines[start.line - 1];
      if (type === 'binary-expr' && at > 0 && DEFAULT.test(`${line.slice(start.column)}\n`)) continue;
      found.all++;
      if (times === 0) found.missed.push(`${relative(ROOT, path)}:${start.line}:${start.column + 1}  ${line.trim()}`);
    }
  }
  return found;
}

/** Whether the tests of a room take all of its branches. */
async function isCovered(name) {
  const files = await covered(name);
  if (files === undefined) return false;
  const found = await Promise.all(Object.entries(files).map(([path, file]) => branchesOf(path, file)));
  const missed = found.flatMap((file) => file.missed);
  const all = found.reduce((sum, file) => sum + file.all, 0);
  process.stdout.write([...missed, `${name}: ${all - missed.length} of ${all} branches taken`, ''].join('\n'));
  return missed.length === 0;
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(ROOMS, name));
if (unknown.length > 0) {
  process.stderr.write(`No room is called ${unknown.join(', ')}; there are ${Object.keys(ROOMS).join(', ')}.\n`);
  process.exitCode = 2;
} else {
  for (const name of asked.length > 0 ? asked : Object.keys(ROOMS)) if (!(await isCovered(name))) process.exitCode = 1;
}
