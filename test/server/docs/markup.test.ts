import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { allOperations } from '../../../src/catalog/catalog.ts';
import { curlOf, html, jsonCode } from '../../../src/server/docs/markup.ts';
import { exampleRequest } from '../../../src/server/openapi/examples.ts';

/** What a shell hands to curl: its arguments, read back from NUL-separated output. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }; uuidgen() { echo key-1; }\n${command}`;
  const env = { PATH: process.env.PATH, MOLAR_URL: 'http://h', MOLAR_TOKEN: 't', MOLAR_ORGANIZATION: 'o' };
  return execFileSync('sh', ['-c', script], { env, encoding: 'utf8' }).split('\0').slice(0, -1);
}

/** The values of an option, in order. */
function option(all: readonly string[], name: string): string[] {
  return all.filter((_, index) => all[index - 1] === name);
}

describe.each(allOperations().map(({ resource, operation }) => [operation.id, resource, operation] as const))(
  'the command of %s',
  (_id, resource, operation) => {
    it('sends the example request from a shell', () => {
      const request = exampleRequest(resource, operation);
      const sent = argumentsOf(curlOf(operation, request));
      const url = new URL(sent.find((argument) => argument.startsWith('http://h')) ?? 'http://missing');
      const pairs = option(sent, '--data-urlencode').map((pair) => pair.split(/=(.*)/s).slice(0, 2));
      expect(url.pathname).toBe(request.path);
      expect({ ...Object.fromEntries(url.searchParams), ...Object.fromEntries(pairs) }).toEqual(request.query);
      expect(option(sent, '-X')).toEqual(operation.method === 'GET' ? [] : [operation.method]);
      expect(option(sent, '-H').slice(0, 2)).toEqual(['Authorization: Bearer t', 'Organization-ID: o']);
      expect(option(sent, '-H').includes('Idempotency-Key: key-1')).toBe(operation.method === 'POST');
      expect(option(sent, '--data').map((body) => JSON.parse(body))).toEqual(request.body ? [request.body] : []);
    });
  },
);

describe('curlOf', () => {
  it('quotes apostrophes', () => {
    const operation = allOperations().find(({ operation: { id } }) => id === 'transactiontags.create')?.operation;
    const sent = argumentsOf(curlOf(operation!, { path: '/x', query: {}, body: { tagText: "Ann's $HOME `x`" } }));
    expect(option(sent, '--data')).toEqual(['{\n  "tagText": "Ann\'s $HOME `x`"\n}']);
  });
});

describe('jsonCode', () => {
  it('marks up names and values differently and escapes both', () => {
    expect(jsonCode({ '<a>': 'b: "c"', n: [1, 'x'], o: null }).text).toBe(
      [
        '{',
        '  <b>&quot;&lt;a&gt;&quot;</b>: <i>&quot;b: \\&quot;c\\&quot;&quot;</i>,',
        '  <b>&quot;n&quot;</b>: [',
        '    1,',
        '    <i>&quot;x&quot;</i>',
        '  ],',
        '  <b>&quot;o&quot;</b>: null',
        '}',
      ].join('\n'),
    );
  });
});

describe('html', () => {
  it.each([
    ['text', html`<p>${'<b> & "c" \'d\''}</p>`, '<p>&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;</p>'],
    ['html', html`<p>${html`<b>${'x<y'}</b>`}</p>`, '<p><b>x&lt;y</b></p>'],
    [
      'a list',
      html`<ul>${['a', 'b&'].map((item) => html`<li>${item}</li>`)}</ul>`,
      '<ul><li>a</li><li>b&amp;</li></ul>',
    ],
    ['nothing', html`<p>${undefined}</p>`, '<p></p>'],
    ['a number', html`<p>${5}</p>`, '<p>5</p>'],
  ])('takes %s', (_name, made, expected) => {
    expect(made.text).toBe(expected);
  });
});
