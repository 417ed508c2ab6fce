import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe } from 'vitest';
import { importFile } from '../../../src/server/import/importer.ts';
import { ImportRefused } from '../../../src/server/import/lines.ts';
import { tellsOfTheInside } from '../../support/fuzz/answers.ts';
import { importBytes } from '../../support/fuzz/lines.ts';
import { fuzz } from '../../support/fuzz/plan.ts';
import { FuzzedService } from '../../support/fuzz/requests.ts';
import { callSample, operations } from '../operations.ts';

describe('odd lines', () => {
  const service = new FuzzedService(true);
  beforeAll(() => service.open());
  afterAll(() => service.close());

  /** Problems name a line, and a field unless the line as a whole is wrong. */
  function lookAt({ problems, total }: ImportRefused): void {
    if (problems.length === 0 || total < problems.length) throw new Error('Refused without a reason.');
    for (const { line, field, message } of problems) {
      const told = tellsOfTheInside(message);
      if (told !== undefined) throw new Error(`${message} tells of the inside: ${told}`);
      if (line < 1 || field === '' || message.trim() === '')
        throw new Error(`Line ${line}, field ${field}: ${message}`);
    }
  }

  /** Whatever was taken can be read again, by every read there is. */
  async function readAll(): Promise<void> {
    for (const [id, tested] of operations('list', 'count', 'report', 'async', 'calculated')) {
      const { status, text } = await callSample(service.current, tested);
      if (status !== 200 && status !== 404) throw new Error(`${id} is answered ${status} ${text.slice(0, 500)}`);
    }
    service.throwFaults([]);
  }

  fuzz('an import', {
    share: 0.02,
    cases: importBytes,
    renew: () => service.renew(),
    judge: async (bytes) => {
      const parts = [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];
      const refused = await importFile(service.current.service, Readable.from(parts), { allowCredentials: true }).then(
        () => undefined,
        (error: unknown) => error,
      );
      if (refused === undefined) {
        await readAll();
        return service.delivered();
      }
      if (!(refused instanceof ImportRefused)) throw refused;
      lookAt(refused);
      await service.mustBeUnchanged(400);
    },
  });
});
