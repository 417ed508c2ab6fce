import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connection, molar } from './molar.ts';
import { servedPractice } from './servedpractice.ts';

const practice = servedPractice(3);

const DATA = ['--data', 'd'];

const NAMES = 'kind,id,name\nlocation,7000000000005,Main Street\n';
/** As spreadsheets write "Unicode text": UTF-16 with a byte order mark. */
const WIDE = Buffer.from(`\uFEFF${NAMES.replace('Main Street', 'Æble Street')}`, 'utf16le');

// What they do is said by tests that run the sources in process. One story: the mirror is made first, the backup before it is restored.
describe('the built program', { shuffle: false }, () => {
  it('serve --json prints exactly one line that says where it listens', () => {
    expect(JSON.parse(practice.served.line)).toEqual({
      event: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      pid: practice.served.child.pid,
    });
  });

  it.each<[line: string, code: number, stdout: RegExp, stderr?: RegExp, input?: string | Uint8Array]>([
    ['server clients create --for 5f3c0ffee0000000000000a1 --json', 0, /"clientSecret":"molar_secret_/],
    ['server keys rotate --json', 0, /^\{"id":"\w+"\}\n$/],
    ['server audit verify', 0, /^\d+ entries, 1 to \d+: unchanged\.\nCheckpoints: \d+\nEnd: \d+:[\da-f]{64}\n$/],
    ['server backup copy', 0, /^Backed up \d+ rows and 0 files, .* SHA-256 of its database: [\da-f]{64}\n$/s],
    ['server restore copy', 0, /^Restored \d+ rows and 0 files to .*again, compared with the backup and checked\.\n/],
    ['mirror sync patients --to m.db --json', 0, /"added":3/],
    ['mirror verify --to m.db', 0, /^$/, /m\.db is an exact copy\. The receipt is .*m\.db\.verify\.json\.\n$/],
    ['mirror export patients --from m.db --to files', 0, /^$/, /^Exported 1 file to files: 3 rows, /],
    ['query SELECT+count(*)+AS+n+FROM+patients --from m.db --csv', 0, /^n\n3\n$/],
    ['names import -', 0, /^$/, /^1 added, 0 changed, 0 removed\.\n$/, NAMES],
    ['names import -', 0, /^$/, /^0 added, 1 changed, 0 removed\.\n$/, WIDE],
    ['names list --csv', 0, /^location,7000000000005,Æble Street,/m],
    ['documents delete 1 --yes --csv', 4, /^$/, /^Error: Not found \(HTTP 404\): There is no document 1 /],
  ])('runs %s', async (line, code, stdout, stderr = /^$/, input = '') => {
    const words = line.split(' ').map((word) => word.replaceAll('+', ' '));
    const where = words[0] !== 'server' ? [] : words[1] === 'restore' ? ['--data', 'again'] : DATA;
    const env = { ...connection(practice.served.url), MOLAR_CONFIG_DIR: join(practice.path, 'config') };
    const ended = await molar(practice.path, [...words, ...where], env, input);
    const printed = { stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) };
    expect(ended).toEqual({ code, ...printed });
  });
});
