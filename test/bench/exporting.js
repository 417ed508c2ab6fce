// Exports by molar, and the scripts that they are measured against or over, each in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { ORGANIZATION, TOKEN } from './practice.js';
import { start, watch } from './processes.js';

const ENVIRONMENT = { MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKEN };

/** Lists all patients to a file: seconds, and megabytes at most. */
export async function exported(url, file, flags) {
  const out = openSync(file, 'w');
  const began = performance.now();
  // No proxy of this machine stands in between, where it is called by a name that is not its own.
  const env = { ...process.env, ...ENVIRONMENT, MOLAR_URL: url, no_proxy: '*' };
  const molar = start(['patients', 'list', ...flags], { env, stdio: ['ignore', out, 'inherit'] });
  await ended(molar.child, 'molar patients list');
  closeSync(out);
  return { seconds: (performance.now() - began) / 1000, peak: molar.peak };
}

/** The lines of an export, which must have one for each patient and the header. */
export function checkedLines(file, patients) {
  const lines = readFileSync(file, 'latin1').split('\n');
  if (lines.length !== patients + 2) throw new Error(`The export has ${lines.length - 2} of ${patients} patients.`);
  return lines;
}

/** Starts a script of this folder. */
export function node([script, ...args], stdout) {
  const path = resolve(import.meta.dirname, script);
  return watch(spawn(process.execPath, [path, ...args], { stdio: ['ignore', stdout, 'inherit'] })).child;
}

/** The first line that a script prints: of a server, its port. */
export async function firstLine({ stdout }) {
  for await (const line of createInterface({ input: stdout })) return line;
  throw new Error('The script ended before it listened.');
}

/** Waits for the end of a process, which must be a good one. */
export async function ended(child, what) {
  const [code, signal] = await once(child, 'close');
  if (code !== 0) throw new Error(`${what} ended with ${code ?? signal}.`);
}
