import { describe, expect, it } from 'vitest';
import { downloadInto } from '../../../../src/core/documents/downloads/downloadfile.ts';
import { chunks, cut, DownloadServer, sha256, whole } from './downloadserver.ts';

const CONTENT = Buffer.from('the content of a scan, in many small pieces');

async function stream(specials: DownloadServer['specials']) {
  const server = new DownloadServer();
  const held = server.add(5, 'scan.pdf', CONTENT);
  server.specials = specials;
  const written: Uint8Array[] = [];
  const received = await downloadInto(
    async (part) => void written.push(part),
    server.row(held),
    server.downloading(),
  ).catch((cause) => [cause.exitCode, cause.message]);
  return { received, text: Buffer.concat(written).toString() };
}

const WHOLE = { received: { bytes: CONTENT.length, sha256: sha256(CONTENT) }, text: CONTENT.toString() };

describe('downloading to a stream', () => {
  it('goes on where cut attempts stopped', async () => {
    expect(
      await stream([
        (held) => cut(whole(held.content), 9),
        (held) => cut(whole(held.content), 5),
        (held) => ({ ...whole(held.content), body: chunks(held.content.subarray(0, 20)) }),
      ]),
    ).toEqual(WHOLE);
  });

  it('does not mix two contents', async () => {
    const other = Buffer.from(CONTENT).reverse();
    expect(await stream([(held) => cut(whole(held.content), 9), () => whole(other)])).toEqual({
      received: [8, expect.stringContaining('The file changed on the server while it was being downloaded')],
      text: CONTENT.subarray(0, 9).toString(),
    });
    const short = await stream([(held) => cut(whole(held.content), 9), (held) => whole(held.content.subarray(0, 4))]);
    expect(short.received).toEqual([8, expect.stringContaining('The file changed on the server')]);
  });

  it('says when the hash is not the one that the server tells', async () => {
    const headers = { 'repr-digest': `sha-256=:${Buffer.from(sha256('other'), 'hex').toString('base64')}:` };
    expect((await stream([(held) => whole(held.content, headers)])).received).toEqual([
      8,
      'The downloaded content does not have the hash that the server reports.',
    ]);
  });
});
