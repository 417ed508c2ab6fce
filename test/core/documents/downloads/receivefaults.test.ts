import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { downloadTo } from '../../../../src/core/documents/downloads/downloadfile.ts';
import { ConnectionFailure } from '../../../../src/core/transport/send.ts';
import {
  chunks,
  cut,
  DownloadServer,
  etagOf,
  fileAnswer,
  partial,
  type Special,
  status,
  whole,
} from './downloadserver.ts';

type Fault =
  | { readonly kind: 'cut'; readonly after: number }
  | { readonly kind: 'change'; readonly size: number; readonly after: number }
  | { readonly kind: 'status'; readonly code: number }
  | { readonly kind: 'whole' | 'elsewhere' | 'long' | 'stop' };

const sizes = fc.integer({ min: 0, max: 400 });
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({ kind: fc.constant('cut' as const), after: sizes }),
  fc.record({ kind: fc.constant('change' as const), size: sizes, after: sizes }),
  fc.record({ kind: fc.constant('status' as const), code: fc.constantFrom(403, 404, 416, 500, 503) }),
  fc.record({ kind: fc.constantFrom('whole' as const, 'elsewhere' as const, 'long' as const, 'stop' as const) }),
);

/** Content of a size in which every version differs at every place. */
function version(size: number, number: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, index) => (index + number * 31) % 251));
}

/** The host's answers to a fault; the content may change for good with it. */
function special(server: DownloadServer, { ...one }: Fault, number: number): Special {
  return (held, request) => {
    switch (one.kind) {
      case 'cut':
        return cut(fileAnswer(held, request, server.extra(held)), one.after);
      case 'change':
        held.content = version(one.size, number + 1);
        return cut(fileAnswer(held, request, server.extra(held)), one.after);
      case 'status':
        return status(one.code, { 'retry-after': '0' });
      case 'whole':
        return whole(held.content, server.extra(held));
      case 'elsewhere':
        return partial(held.content, Math.min(1, held.content.length), { etag: etagOf(held) });
      case 'long':
        return {
          ...whole(held.content, server.extra(held)),
          body: chunks(Buffer.concat([held.content, Buffer.from('x')])),
        };
      case 'stop':
        throw new ConnectionFailure('Nothing answers.', { sent: false });
    }
  };
}

it('whatever the host does, over any number of runs, the file is in the end what the host has', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(fault, { maxLength: 9 }), { maxLength: 4 }), sizes, async (runs, size) => {
      const folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
      try {
        const server = new DownloadServer();
        const held = server.add(5, 'scan.pdf', version(size, 0));
        const place = { path: join(folder, 'scan.pdf'), label: 'scan.pdf' };
        const download = () =>
          downloadTo(place, server.row(held), server.downloading(), false).then(
            () => true,
            () => false,
          );
        let isDone = false;
        for (const [at, faults] of runs.entries()) {
          server.specials = faults.map((one, index) => special(server, one, at * 10 + index));
          isDone ||= await download();
          if (isDone) break;
        }
        // A part may wait, but nothing under the name itself that is not whole.
        if (!isDone) expect(await readdir(folder)).not.toContain('scan.pdf');
        server.specials = [];
        expect(isDone || (await download())).toBe(true);
        expect(await readFile(place.path)).toEqual(held.content);
        expect(await readdir(folder)).toEqual(['scan.pdf']);
      } finally {
        await rm(folder, { recursive: true });
      }
    }),
    { numRuns: 150 },
  );
});
