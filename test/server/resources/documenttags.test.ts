import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idsOf, refusalOf, rowOf, sourcesOf } from '../../support/calls.ts';
import { dump } from '../../support/dump.ts';
import { bareRecords } from '../../support/practice.ts';
import { type TestService, testService } from '../../support/service.ts';
import { post, posted, put } from './documentsof.ts';

let service: TestService;
beforeEach(async () => {
  service = await testService(bareRecords());
});
afterEach(() => service.close());

const knownTags = async () =>
  (await dump(service.service)).document_tags?.map((row) => (JSON.parse(row) as { name: string }).name);
const tagged = async (tag: string) =>
  idsOf(await service.call('GET', '/documents', { query: { filter: `tags->["${tag}"]` } }));

describe('tags of documents (specification, Document rule 5; D37)', () => {
  it('are stored as sent, in order, each once', async () => {
    const made = await posted(service, { tags: ['b', 'X-Ray', 'a', 'x-ray', ' B ', 'X-RAY'] });
    expect(made.tags).toEqual(['b', 'X-Ray', 'a']);
  });

  it('are reused in the letter case first stored', async () => {
    await posted(service, { tags: ['X-Ray'] });
    expect((await posted(service, { tags: ['x-ray'] })).tags).toEqual(['X-Ray']);
    const { id } = await posted(service);
    expect(rowOf(await put(service, id, { tags: ['X-RAY', 'new'] })).tags).toEqual(['X-Ray', 'new']);
    expect((await posted(service, { tags: ['NEW'] })).tags).toEqual(['new']);
  });

  it('are one tag in either normal form', async () => {
    await posted(service, { tags: ['Caf\u00e9'] });
    expect((await posted(service, { tags: ['CAFE\u0301'] })).tags).toEqual(['Caf\u00e9']);
    expect(await tagged('cafe\u0301')).toEqual([1, 2]);
  });

  it('are replaced as a whole by PUT, and left alone by a PUT without them', async () => {
    const { id } = await posted(service, { tags: ['a', 'b'] });
    expect(rowOf(await put(service, id, { name: 'other' })).tags).toEqual(['a', 'b']);
    expect(rowOf(await put(service, id, { tags: ['c'] })).tags).toEqual(['c']);
    expect([await tagged('a'), await tagged('C')]).toEqual([[], [id]]);
    for (const none of [[], null]) expect(rowOf(await put(service, id, { tags: none })).tags).toEqual([]);
    expect(await tagged('c')).toEqual([]);
  });

  it('stay known after a PUT that drops them, and go with a DELETE', async () => {
    const { id } = await posted(service, { tags: ['Kept'] });
    await put(service, id, { tags: [] });
    expect(await knownTags()).toEqual(['Kept']);
    expect((await posted(service, { tags: ['KEPT'] })).tags).toEqual(['Kept']);
    await service.call('DELETE', '/documents/2');
    expect(await knownTags()).toEqual([]);
    expect((await posted(service, { tags: ['KEPT'] })).tags).toEqual(['KEPT']);
  });

  it('that no document has are removed by any DELETE', async () => {
    const { id } = await posted(service, { tags: ['dropped', 'kept'] });
    await put(service, id, { tags: ['kept'] });
    const other = await posted(service, { tags: ['gone'] });
    await service.call('DELETE', `/documents/${other.id}`);
    expect(await knownTags()).toEqual(['kept']);
  });

  it('of other documents stay after a DELETE', async () => {
    const first = await posted(service, { tags: ['Shared', 'Own'] });
    await posted(service, { tags: ['SHARED'] });
    await service.call('DELETE', `/documents/${first.id}`);
    expect(await knownTags()).toEqual(['Shared']);
    expect(await tagged('shared')).toEqual([2]);
  });

  it('have 1 to 50 characters, and every wrong one is reported', async () => {
    const tooth = '\u{1f9b7}';
    expect((await posted(service, { tags: ['x', tooth.repeat(50)] })).tags).toEqual(['x', tooth.repeat(50)]);
    const called = await post(service, { tags: ['', 'ok', '  ', tooth.repeat(51), 5, null, ['a']] });
    expect(called.status).toBe(400);
    expect(sourcesOf(called)).toEqual(['tags[0]', 'tags[2]', 'tags[3]', 'tags[4]', 'tags[5]', 'tags[6]']);
    expect(refusalOf(await post(service, { tags: 'x' }))).toEqual({ status: 400, errors: ['field.type tags'] });
  });

  it('of a refused POST are not created', async () => {
    await post(service, { tags: ['lost'], mimeType: 'TXT' });
    expect(await knownTags()).toEqual([]);
  });
});
