import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idsOf, refusalOf, rowOf, type WireRecord } from '../../support/calls.ts';
import { OTHER_ORGANIZATION, TOKENS } from '../../support/ids.ts';
import { bareRecords, line } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { places } from '../import/importing.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

const tag = (tagText: string, more: WireRecord = {}) => ({
  tagText,
  isPredefined: false,
  tagType: 'PAYMENT_TAG',
  ...more,
});
const post = (body: WireRecord) => service.call('POST', '/transactiontags', { body });
const put = (id: unknown, body: WireRecord) => service.call('PUT', `/transactiontags/${id}`, { body });
const posted = async (body: WireRecord) => rowOf(await post(body));

describe('transaction tags (specification, Transaction tag; D23)', () => {
  it('have a text once within a type, in any letter case and normal form', async () => {
    const { id } = await posted(tag('Caf\u00e9'));
    for (const text of ['Caf\u00e9', 'CAFE\u0301', ' caf\u00e9 ']) {
      expect(refusalOf(await post(tag(text)))).toEqual({ status: 400, errors: ['field.duplicate tagText'] });
    }
    expect((await post(tag('Caf\u00e9', { tagType: 'ADJUSTMENT_TAG' }))).status).toBe(201);
    expect((await put(id, { tagText: 'CAF\u00c9' })).status).toBe(200);
    const second = await posted(tag('Other'));
    expect(refusalOf(await put(second.id, { tagText: 'caf\u00e9' }))).toEqual({
      status: 400,
      errors: ['field.duplicate tagText'],
    });
    expect(refusalOf(await put(second.id, { tagType: 'ADJUSTMENT_TAG', tagText: 'Caf\u00e9' }))).toEqual({
      status: 400,
      errors: ['field.duplicate tagText'],
    });
    expect(rowOf(await service.call('GET', `/transactiontags/${second.id}`)).tagText).toBe('Other');
  });

  it('may have the text of a tag of another organization', async () => {
    await posted(tag('Shared'));
    const there = { organization: OTHER_ORGANIZATION, token: TOKENS.other };
    expect((await service.call('POST', '/transactiontags', { body: tag('Shared'), ...there })).status).toBe(201);
  });

  it('are answered whole by DELETE, and their text is free again', async () => {
    const made = await posted(tag('Gone'));
    expect((await service.call('DELETE', `/transactiontags/${made.id}`)).body.data).toEqual(made);
    const again = await posted(tag('Gone'));
    expect(again.id).toBe(Number(made.id) + 1);
    expect(idsOf(await service.call('GET', '/transactiontags'))).toEqual([again.id]);
  });

  it('that are predefined can be neither changed nor deleted', async () => {
    const made = await posted(tag('Fixed', { isPredefined: true }));
    for (const body of [{ tagText: 'x' }, { isPredefined: false }, { tagType: 'ADJUSTMENT_TAG' }]) {
      expect(refusalOf(await put(made.id, body))).toEqual({ status: 400, errors: ['field.conflict isPredefined'] });
    }
    expect((await put(made.id, made)).status).toBe(200);
    expect(refusalOf(await service.call('DELETE', `/transactiontags/${made.id}`))).toEqual({
      status: 400,
      errors: ['field.conflict isPredefined'],
    });
    expect(rowOf(await service.call('GET', `/transactiontags/${made.id}`))).toEqual(made);
  });

  it('may become predefined', async () => {
    const { id } = await posted(tag('Soon'));
    expect(rowOf(await put(id, { isPredefined: true })).isPredefined).toBe(true);
    expect((await put(id, { tagText: 'Later' })).status).toBe(400);
  });

  it('are judged alike when they are imported', async () => {
    const both = [
      line('TransactionTagV1', { id: 1, ...tag('Twin') }),
      line('TransactionTagV1', { id: 2, ...tag('TWIN') }),
    ];
    expect(await places(service, both)).toEqual(['2 tagText']);
    await service.import([line('TransactionTagV1', { id: 1, ...tag('Fixed', { isPredefined: true }) })]);
    await service.import([line('TransactionTagV1', { id: 1, ...tag('Changed', { isPredefined: true }) })]);
    expect(rowOf(await service.call('GET', '/transactiontags/1')).tagText).toBe('Changed');
  });
});
