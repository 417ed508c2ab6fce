import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { molar, type Outcome, type Run } from './run.ts';

/** Downloads every document: each content is there once, and whole. */
export async function download(run: Run): Promise<Outcome> {
  const folder = join(run.folder, 'down');
  const line = ['documents', 'download', '--all', '--dir', folder];
  let ran = await molar(run, ...line);
  // What came already is skipped: a second run of the line finishes the first.
  if (ran.exitCode !== 0) ran = await molar(run, ...line);
  const end = ran.exitCode === 0 ? 'whole' : 'failed';
  const files = await contentsIn(folder);
  const stored = run.service.records('documents').map(({ guidName }) => contentOf(run, String(guidName)));
  const left = [...stored];
  const foreign = files.filter((content) => {
    const place = left.indexOf(content);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
  return {
    end,
    problems: [
      ...(foreign.length > 0 ? [`documents: ${foreign.length} files that are not stored`] : []),
      ...(end === 'whole' && left.length > 0 ? [`documents: ${left.length} not downloaded`] : []),
    ],
    stderr: ran.stderr,
  };
}

async function contentsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const whole = names.filter((name) => !name.startsWith('.') && !name.endsWith('.part'));
  return Promise.all(whole.map((name) => readFile(join(folder, name), 'hex')));
}

function contentOf({ service }: Run, guidName: string): string {
  return service.practice.files.get(guidName)?.toString('hex') ?? '';
}
