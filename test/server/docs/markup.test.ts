import { describe, expect, it } from 'vitest';
import { html } from '../../../src/server/docs/markup.ts';

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
