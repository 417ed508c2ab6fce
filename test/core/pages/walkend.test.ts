import { describe, expect, it } from 'vitest';
import { operationOf } from '../../../src/catalog/catalog.ts';
import { patients } from '../../../src/catalog/resources/patients.ts';
import { scheduleTemplateReasons } from '../../../src/catalog/resources/scheduletemplatereasons.ts';
import type { Row } from '../../../src/core/pages/page.ts';
import { walkPages } from '../../../src/core/pages/walk.ts';
import type { OutgoingRequest, Send } from '../../../src/core/transport/send.ts';
import { clientOf, Script, success } from '../transport/script.ts';

const list = operationOf(patients, 'list');
const rows = (...ids: number[]) => ids.map((id) => ({ id }));

describe('a walk that ends early', () => {
  it('lets go of the page that it asked for ahead, when nobody wants it any more', async () => {
    const ahead: OutgoingRequest[] = [];
    const send: Send = async (request) => {
      if (request.url.includes('lastId=0')) return success(rows(1));
      ahead.push(request);
      return new Promise((_, reject) =>
        request.signal?.addEventListener('abort', () => reject(request.signal?.reason)),
      );
    };
    const pages = walkPages(clientOf({ send }), list, { pageSize: 1 });
    await pages.next();
    await expect.poll(() => ahead.length).toBe(1);
    await pages.return(undefined);
    expect(ahead[0]?.signal?.aborted).toBe(true);
  });

  it('asks for nothing behind the limit of a list without paging', async () => {
    const full = { meta: { pagination: { limit: 2 } } };
    const script = new Script(success(rows(1, 2), full), success(rows(3, 4), full));
    const reasons = operationOf(scheduleTemplateReasons, 'list');
    const found: Row[] = [];
    for await (const page of walkPages(clientOf(script), reasons, { pageSize: 9, limit: 3 })) found.push(...page.rows);
    expect(found).toEqual(rows(1, 2, 3));
  });
});
