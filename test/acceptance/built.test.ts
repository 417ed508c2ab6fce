import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connection, molar, PATIENT, type Served, serve, workplace, writeFixture } from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
let served: Served;

beforeAll(async () => {
  place = await workplace();
  await writeFixture(place.path, 3);
  served = await serve(place.path, ['--data', 'd', '--import', 'fixture.ndjson']);
});

afterAll(async () => {
  await served?.stop();
  await place.remove();
});

const DATA = ['--data', 'd'];

// What they do is said by tests that run the sources in process. One story: the mirror is made first, the backup before it is restored.
describe('the built program', { shuffle: false }, () => {
  it.each<[line: string, code: number, printed: RegExp]>([
    ['server clients create --for 5f3c0ffee0000000000000a1 --json', 0, /"clientSecret"/],
    ['server keys list --json', 0, /"createdAt"/],
    ['server keys rotate --json', 0, /"id"/],
    [`server audit patient ${PATIENT}`, 0, /patients\.|server\.import/],
    ['server audit verify', 0, /./],
    ['server backup copy', 0, /./],
    ['server restore copy', 0, /^Restored /],
    ['mirror sync patients --to m.db --json', 0, /"added":3/],
    ['mirror status --to m.db --json', 0, /"complete":true/],
    ['mirror verify --to m.db', 0, /^/],
    ['mirror export patients --from m.db --to files', 0, /^/],
    ['query SELECT+count(*)+AS+n+FROM+patients --from m.db --csv', 0, /^n\n3\n$/],
    ['names import -', 0, /^/],
    ['names list --csv', 0, /Main Street/],
    ['export bookmarks list --json', 0, /^\[/],
    ['documents delete 1 --yes --csv', 4, /^$/],
  ])('runs %s', async (line, code, printed) => {
    const words = line.split(' ').map((word) => word.replaceAll('+', ' '));
    const where = words[0] !== 'server' ? [] : words[1] === 'restore' ? ['--data', 'again'] : DATA;
    const env = { ...connection(served.url), MOLAR_CONFIG_DIR: join(place.path, 'config') };
    const names = 'kind,id,name\nlocation,7000000000005,Main Street\n';
    const ended = await molar(place.path, [...words, ...where], env, names);
    expect(ended, ended.stderr).toMatchObject({ code, stdout: expect.stringMatching(printed) });
  });
});
