import { describe, expect, it } from 'vitest';
import { staticToken } from '../../../../src/core/connection/credentials.ts';
import { findOwners } from '../../../../src/core/documents/layouts/patientfind.ts';
import type { PathFacts } from '../../../../src/core/documents/layouts/pattern.ts';
import type { UploadRow } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { ApiClient } from '../../../../src/core/transport/client.ts';
import type { Send } from '../../../../src/core/transport/send.ts';
import { type Faithful, startFaithful } from '../../../faithful/service.ts';

const overNetwork: Send = async ({ method, url, headers }) => {
  const response = await fetch(url, { method, headers });
  const headersSent = Object.fromEntries([...response.headers].filter(([name]) => !name.startsWith('content-')));
  const body = Buffer.from(await response.arrayBuffer());
  return {
    status: response.status,
    headers: headersSent,
    body: (async function* () {
      yield body;
    })(),
  };
};

async function found(service: Faithful, paths: readonly Omit<PathFacts, 'tags'>[]) {
  const client = new ApiClient({
    baseUrl: service.url,
    organization: service.organization,
    token: staticToken(service.token),
    retry: { maxRetries: 2, base: 1, ceiling: 1, longestWait: 1 },
    send: overNetwork,
  });
  const rows = paths.map(
    (facts, index): UploadRow => ({ file: `${index}.pdf`, tags: [], facts: { ...facts, tags: [] } }),
  );
  const signal = new AbortController().signal;
  const owners = await findOwners(rows, async () => ({ client, now: Date.now, signal, onUnproved: () => undefined }));
  return owners.map(({ patient, review }) => (review === undefined ? patient : review.candidates));
}

const other = (text: unknown) => String(text).toUpperCase().normalize('NFD');

describe('patients on a service that keeps the specification and no more', () => {
  it.each([
    ['of any habits', { seed: '1' }, 600],
    ['of other habits', { seed: '2' }, 600],
    ['with pages as long as are asked for', { seed: '3', moods: { pageCap: 500 } }, 40],
  ])('are found in every way, %s', async (_, options, most) => {
    const service = await startFaithful(options);
    try {
      const all = service.reachable('patients').slice(0, 40);
      for (const [index, { id }] of all.entries()) {
        const lastName = `Mu\u0308ller-${index}`;
        service.edit('patients', Number(id), { chartNumber: `x\u00e9 ${index}`, lastName, patientStatus: 'ACTIVE' });
      }
      const patients = service.reachable('patients').slice(0, 40);
      const ids = patients.map(({ id }) => String(id));
      const before = service.requests.length;
      expect(
        await found(
          service,
          ids.map((id) => ({ id: `00${id}` })),
        ),
      ).toEqual(ids);
      expect(
        await found(
          service,
          patients.map(({ chartNumber }) => ({ chartNumber: other(chartNumber) })),
        ),
      ).toEqual(ids);
      const named = patients.map(({ lastName, firstName, dateOfBirth }) => ({
        last: other(lastName),
        first: other(firstName),
        birthDate: String(dateOfBirth),
      }));
      expect(await found(service, named)).toEqual(ids);
      expect(await found(service, named.slice(0, 3))).toEqual(ids.slice(0, 3));
      expect(
        await found(
          service,
          named.slice(0, 2).map(({ birthDate: _, ...name }) => name),
        ),
      ).toEqual(ids.slice(0, 2).map((id) => [id]));
      expect(await found(service, [{ id: '999999999999999999999999' }, { chartNumber: 'none' }])).toEqual([[], []]);
      expect(service.requests.length - before).toBeLessThan(most);
      expect(service.violations).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
