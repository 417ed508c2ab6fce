import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { json, run } from './archives.ts';
import { molarIn } from './inprocess.ts';
import { connection, PATIENT, type Served, serve, writeFixture } from './molar.ts';

/** The version that the copy of an archive says it is. */
const BEFORE = '0.0.9';

/**
 * Works with a copy of an archive that says it is an older version, puts the archive in its place as README.txt says,
 * works with that, and removes it; gives what commands printed. `folder` is the unpacked archive, which stays, `place` a
 * folder to work in, `bare` the environment.
 */
export async function workOverUpdate(folder: string, place: string, bare: Record<string, string>) {
  const before = `${folder}-before`;
  const copy = () => cp(folder, before, { recursive: true, verbatimSymlinks: true });
  await copy();
  for (const name of ['lib/package.json', 'lib/oclif.manifest.json']) {
    const file = join(before, name);
    await writeFile(file, JSON.stringify({ ...(await json(file)), version: BEFORE }));
  }
  const env = { ...bare, MOLAR_CONFIG_DIR: join(place, 'settings') };
  const program = join(before, 'bin/molar');
  const data = ['--data', join(place, 'kept')];
  const serveHere = (...more: string[]) =>
    serve(place, [...data, ...more], join(before, 'lib/bin/run.js'), env, program);
  const lines = async ({ url }: Served, words: readonly (readonly string[])[]) => {
    const printed: string[] = [];
    for (const each of words) {
      const { stdout, stderr } = await run(program, each, {
        cwd: place,
        env: { ...env, ...connection(url) },
      });
      printed.push(`${stdout}${stderr}`.trim());
    }
    return printed;
  };

  await writeFixture(place, 5);
  const old = await serveHere('--import', 'fixture.ndjson');
  const oldVersion = await lines(old, [
    ['--version'],
    ['config', 'set', 'pageSize', '3'],
    ['patients', 'update', `${PATIENT}`, '--city', 'Denver'],
  ]);
  await old.stop();
  await rm(before, { recursive: true });
  await copy();
  const fresh = await serveHere();
  const newVersion = await lines(fresh, [
    ['--version'],
    ['config', 'get', 'pageSize'],
    ['patients', 'list', '--filter', `id->[${PATIENT}]`, '--fields', 'id,city', '--csv'],
    ['patients', 'count'],
  ]);
  await fresh.stop();
  await rm(before, { recursive: true });
  const rest = await serve(place, data);
  const removed: string[] = [];
  for (const words of [
    ['config', 'get', 'pageSize'],
    ['patients', 'count'],
  ])
    removed.push((await molarIn(place, words, { ...env, ...connection(rest.url) })).stdout.trim());
  await rest.stop();
  return { oldVersion, newVersion, removed };
}
