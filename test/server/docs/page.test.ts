import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { allOperations, RESOURCES } from '../../../src/catalog/catalog.ts';
import { FAILURES } from '../../../src/catalog/failures.ts';
import { sharedService } from '../../support/service.ts';

const service = sharedService();
const load = async () => (await service.app.inject('/docs')).body;

const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

/** The part of the page that is about one operation. */
function article(page: string, id: string): string {
  const from = page.indexOf(`<article class="operation" id="${id}">`);
  expect(from, id).toBeGreaterThan(0);
  return page.slice(from, page.indexOf('</article>', from));
}

describe('GET /docs', () => {
  it('serves a page without a token, which may only use its own style', async () => {
    const { statusCode, headers, body } = await service.app.inject('/docs');
    expect(statusCode).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const [style = ''] = matches(body, /<style>([\s\S]*?)<\/style>/g);
    const digest = createHash('sha256').update(style).digest('base64');
    const policy = String(headers['content-security-policy']).split('; ');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src 'sha256-${digest}'`);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy.filter((rule) => rule.includes('unsafe') || rule.includes('script'))).toEqual([]);
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  it('has no script, no style of an element and no outside resource', async () => {
    const page = await load();
    expect(page).not.toMatch(/<script|\sstyle=|\son\w+=|javascript:|@import|url\(/);
    const targets = matches(page, /(?:href|src|action)="([^"]*)"/g);
    expect(targets.filter((target) => !/^(#|data:|\/openapi\.json$)/.test(target))).toEqual([]);
  });

  it('has links that lead somewhere, and each id once', async () => {
    const page = await load();
    const ids = matches(page, /\sid="([^"]*)"/g);
    expect(new Set(ids).size).toBe(ids.length);
    const links = new Set(matches(page, /href="#([^"]*)"/g));
    expect([...links].filter((link) => !ids.includes(link))).toEqual([]);
  });

  it('leads to every operation and resource, and shows the guides', async () => {
    const page = await load();
    const links = matches(page, /href="#([^"]*)"/g);
    expect(links).toEqual(expect.arrayContaining(allOperations().map(({ operation }) => operation.id)));
    expect(links).toEqual(expect.arrayContaining(RESOURCES.map(({ name }) => name)));
    for (const guide of ['filters', 'paging', 'fields', 'errors', 'idempotency', 'limits']) {
      expect(page).toContain(`<section class="guide" id="${guide}">`);
    }
  });

  it('shows method, path, scope, filter keys and errors of each operation', async () => {
    const page = await load();
    for (const { resource, operation } of allOperations()) {
      const text = article(page, operation.id);
      expect(text).toContain(`<span class="method ${operation.method.toLowerCase()}">${operation.method}</span>`);
      expect(text.replaceAll('<wbr>', '')).toContain(`<code>/api/v1${operation.path}</code>`);
      expect(text).toContain(`Scope <code>${operation.scope}</code>`);
      expect(text).toContain('>auth.token_missing</code>');
      const same = Object.values(resource.operations).find(({ filters }) => filters === operation.filters);
      const shown = same === undefined ? text : article(page, same.id);
      for (const key of Object.keys(operation.filters ?? {}))
        expect(shown, operation.id).toContain(`<code>${key}</code>`);
    }
  });

  it('marks up each operator', async () => {
    const [row = ''] = matches(
      article(await load(), 'patients.list'),
      /<tr>(<th scope="row"><code>chartNumber<\/code>.*?)<\/tr>/g,
    );
    expect(matches(row, /<code title="[^"]+">([^<]*)<\/code>/g)).toEqual(['==', '.absent', '.present']);
  });

  it('lists every failure', async () => {
    const page = await load();
    const guide = page.slice(page.indexOf('id="errors"'), page.indexOf('id="idempotency"'));
    expect(matches(guide, /<th scope="row"><code>([^<]*)<\/code>/g)).toEqual(Object.keys(FAILURES));
  });

  it('shows the parts of objects among the fields', async () => {
    expect(await load()).toContain('<code>phones[].number</code>');
  });
});
