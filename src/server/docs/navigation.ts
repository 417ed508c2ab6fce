import type { Resource } from '../../catalog/define.ts';
import type { Guide } from './guides.ts';
import { type Html, html } from './markup.ts';
import { methodLabel } from './operation.ts';

/** The table of contents: a column on wide screens, to unfold on narrow ones; a checkbox does that without a script. */
export function navigation(guides: readonly Guide[], resources: readonly Resource[]): Html {
  return html`<nav aria-label="Contents"><input type="checkbox" id="contents"><label for="contents">Contents</label><div class="contents">
<p class="group">Guides</p>
<ul>${guides.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
<p class="group">Resources</p>
<ul>${resources.map(resourceEntry)}</ul>
<p class="group">Service</p>
<ul><li><a href="#service">Tokens, files, health</a></li><li><a href="/openapi.json">openapi.json</a></li></ul>
</div></nav>`;
}

function resourceEntry(resource: Resource): Html {
  const entries = Object.values(resource.operations).map(
    ({ id, method, summary }) => html`<li><a href="#${id}">${methodLabel(method)}<span>${summary}</span></a></li>`,
  );
  return html`<li><details><summary>${headingOf(resource)}</summary><ul>
<li><a href="#${resource.name}">About and fields</a></li>${entries}</ul></details></li>`;
}

/** What a resource is called in headings: its records, or what a report is about. */
export function headingOf({ many, about, computed }: Resource): string {
  return computed ? about : many.charAt(0).toUpperCase() + many.slice(1);
}
