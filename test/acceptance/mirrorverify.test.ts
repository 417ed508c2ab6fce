import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { molarIn } from './inprocess.ts';
import { connection, type Served, serve, workplace, writeFixture } from './molar.ts';

/** More than a page. */
const COUNT = 520;

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;
let env: Record<string, string>;
let file: string;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, COUNT);
  served = await serve(place.path, ['--data', './d', '--import', 'fixture.ndjson']);
  env = { ...connection(served.url), MOLAR_CONFIG_DIR: join(place.path, 'config') };
  file = join(place.path, 'config', 'mirror', 'default.db');
  const synced = await run('sync');
  expect(synced.code, synced.stderr).toBe(0);
});

afterAll(async () => {
  await served.stop();
  await place.remove();
});

const run = (...args: string[]) => molarIn(place.path, ['mirror', ...args], env);

/** Runs Python with the mirror open as `db`: a program that knows nothing of molar. */
async function python(script: string): Promise<string> {
  const lines = ['import hashlib, json, sqlite3, sys', 'db = sqlite3.connect(sys.argv[1])', script, 'db.commit()'];
  const { stdout } = await promisify(execFile)('python3', ['-c', lines.join('\n'), file], { cwd: place.path });
  return stdout.trim();
}

describe('molar mirror verify, as it is installed', () => {
  it('names what another program has changed, a line each, and mends it', async () => {
    const [gone, changed] = (
      await python("print(*[row[0] for row in db.execute('SELECT id FROM patients ORDER BY id LIMIT 2')])")
    ).split(' ');
    await python(`db.execute('DELETE FROM patients WHERE id = ${gone}')
db.execute("UPDATE patients SET last_name = 'Eve' WHERE id = ${changed}")`);
    const found = await run('verify');
    expect(found.stdout).toBe(`patients ${gone}: missing\npatients ${changed}: different in lastName\n`);
    expect(found.code).toBe(9);
    expect(found.stderr).toContain('--repair');
    const mended = await run('verify', '--repair');
    expect(mended.code, mended.stderr).toBe(0);
    expect(mended.stderr).toContain('2 of its records were mended');
    expect(await python(`print(db.execute("SELECT count(*), sum(last_name = 'Eve') FROM patients").fetchone())`)).toBe(
      `(${COUNT}, 0)`,
    );
  });

  it('leaves a receipt whose digests another program computes', async () => {
    const { code, stdout } = await run('verify', '--json');
    expect(code).toBe(0);
    const { receipt } = JSON.parse(stdout);
    expect(receipt).toBe(`${file}.verify.json`);
    const digests = await python(`
for resource in json.load(open(sys.argv[1] + '.verify.json'))['resources']:
  for table in resource['tables']:
    digest = hashlib.sha256()
    for (line,) in db.execute(table['query']): digest.update(f'{line}\\n'.encode())
    if digest.hexdigest() != table['sha256']: print(table['query'])`);
    expect(digests).toBe('');
    const proof = JSON.parse(await readFile(receipt, 'utf8'));
    const patients = proof.resources.find(({ resource }: { resource: string }) => resource === 'patients');
    expect(patients).toMatchObject({ rows: COUNT, serverRows: COUNT });
    expect(patients.tables.map(({ table }: { table: string }) => table)).toContain('patient_phones');
  });

  it('is refused while another command writes to the file, and names it', async () => {
    const lock = join(place.path, 'config', 'mirror', '.default.db.lock');
    const holder = {
      id: 'a',
      pid: process.pid,
      host: hostname(),
      startedAt: '2026-01-01T00:00:00.000Z',
      command: 'molar mirror sync',
    };
    await writeFile(lock, JSON.stringify(holder));
    const { code, stderr } = await run('verify');
    expect(code).toBe(9);
    expect(stderr).toContain(`molar mirror sync, process ${process.pid}`);
    await rm(lock);
  });
});
