import { createHash, type Hash } from 'node:crypto';
import { localFailure } from '../../failure.ts';
import type { Row } from '../../pages/page.ts';
import { toldDigest } from '../links/contentdigest.ts';
import { DocumentLink, type Downloading } from '../links/documentlink.ts';
import { takeWhole } from './downloadfile.ts';
import type { Received } from './receivefile.ts';

/**
 * Writes a document's content to a stream. Another attempt goes on where the last one stopped, when it begins with the
 * same bytes; what is written cannot be taken back, so a wrong hash at the end is a failure, exit 8.
 */
export async function downloadInto(
  write: (bytes: Uint8Array) => Promise<void>,
  document: Row,
  downloading: Downloading,
): Promise<Received> {
  const written = new Prefix();
  return takeWhole(new DocumentLink(document, downloading), downloading, async (chunks, headers) => {
    const told = toldDigest(200, headers);
    const whole = createHash(told?.algorithm ?? 'sha256');
    const again = new Prefix();
    let agreed = written.bytes === 0;
    const agree = () => {
      if (again.bytes !== written.bytes || again.sha256() !== written.sha256()) throw changed();
      agreed = true;
    };
    for await (const chunk of chunks) {
      whole.update(chunk);
      const repeated = agreed ? chunk.subarray(0, 0) : chunk.subarray(0, written.bytes - again.bytes);
      again.add(repeated);
      const fresh = chunk.subarray(repeated.length);
      if (fresh.length === 0) continue;
      if (!agreed) agree();
      await write(fresh);
      written.add(fresh);
      downloading.onBytes?.(fresh.length);
    }
    if (!agreed) agree();
    if (told !== undefined && whole.digest('hex') !== told.value)
      throw localFailure('response.malformed', 'The content that came has not the hash that the server tells of it.');
    return { bytes: written.bytes, sha256: written.sha256() };
  });
}

class Prefix {
  bytes = 0;
  private readonly hash: Hash = createHash('sha256');

  add(bytes: Uint8Array): void {
    this.hash.update(bytes);
    this.bytes += bytes.length;
  }

  sha256(): string {
    return this.hash.copy().digest('hex');
  }
}

function changed() {
  const message = 'The file changed on the server while it was being downloaded; what was written so far is not it.';
  return localFailure('response.malformed', message, { hint: 'Run the command again.' });
}
