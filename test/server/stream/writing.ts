import { appendMessage } from '../../../src/server/stream/outbox.ts';
import { ORGANIZATION } from '../../support/ids.ts';
import type { TestService } from '../../support/service.ts';
import { ownOrg } from './told.ts';

type NewMessage = Parameters<typeof appendMessage>[1];

/** An organization by its key in the store and its name on the wire. */
interface Writer {
  readonly org: number;
  readonly id: string;
}

/** A message of an organization that tells of nothing in particular, or of what `said` says. */
export function messageBy({ org, id }: Writer, said: Partial<NewMessage> = {}): NewMessage {
  const key = { organizationId: id, locationId: '*', domainType: 'PatientV1', operation: 'CREATE' };
  return { org, key, sendTime: 'now', correlationId: null, payload: '{}', places: '', record: null, ...said };
}

/** Writes messages of an organization at once, and has the stream know of them; each tells its number from 1 on, or `payload`. */
export async function writeMessages(
  { service, clock }: TestService,
  organization: Writer,
  count: number,
  payload?: string,
): Promise<void> {
  await service.store.write(async (tx) => {
    for (let at = 1; at <= count; at++) {
      const said = { sendTime: clock.text(), payload: payload ?? `{"id":${at}}` };
      await appendMessage(tx, messageBy(organization, said));
    }
  });
  await service.stream.refresh();
}

/** The same of the organization that calls are for. */
export async function writeOwnMessages(service: TestService, count: number, payload?: string): Promise<void> {
  return writeMessages(service, { org: await ownOrg(service), id: ORGANIZATION }, count, payload);
}
