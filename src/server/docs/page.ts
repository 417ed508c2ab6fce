import { createHash } from 'node:crypto';
import { API_PREFIX, RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { capitalized, recordName } from '../openapi/names.ts';
import { SERVICE_PATHS } from '../openapi/service.ts';
import { GUIDES, type Guide } from './guides.ts';
import { type Html, html, Html as Raw } from './markup.ts';
import { methodLabel, operationSection } from './operation.ts';
import { STYLE } from './style.ts';
import { fieldsTable, table } from './tables.ts';

/** A tooth, so that browsers do not ask for an icon. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0b5cad" d="M8 3c1-1 5-2 5 2 0 3-1 3-1.500 6C11 14 9.500 14 9 11c-.3-2-1.700-2-2 0-.5 3-2 3-2.500 0C4 8 3 8 3 5c0-4 4-3 5-2z"/></svg>',
)}`;

/** What the page may do: be styled by its own style, and nothing else. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The API reference as one HTML page without a script or an outside resource. */
export function docsPage(): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Practice Management API</title>
<link rel="icon" href="${ICON}">
<style>${new Raw(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the reference</a>
<div class="layout">
${navigation()}
<main id="main">
<section class="guide">
<h1>Practice Management API</h1>
<p class="lead">Patients, documents, ledger, schedule and reports of a dental practice over HTTP and JSON. Machines read the same in <a href="/openapi.json">openapi.json</a>.</p>
</section>
${GUIDES.map(guideSection)}
${RESOURCES.map(resourceSection)}
${serviceSection()}
</main>
</div>
</body>
</html>
`.text;
}

function guideSection({ id, title, text }: Guide): Html {
  return html`<section class="guide" id="${id}"><h2><a href="#${id}">${title}</a></h2>${text}</section>\n`;
}

function resourceSection(resource: Resource): Html {
  const { name, about, type, fields, operations } = resource;
  return html`<section id="${name}"><h2><a href="#${name}">${headingOf(resource)}</a></h2>${resource.computed ? undefined : html`<p class="lead">${about}.</p>`}
<details><summary>Fields of ${type}</summary>${fieldsTable(fields)}</details>
${otherRecords(resource)}
${Object.values(operations).map((operation) => operationSection(resource, operation))}</section>\n`;
}

/** Records that operations return beside the resource's own: calculated fields, billing types, pages of a report. */
function otherRecords(resource: Resource): Html[] {
  const others = new Map(
    Object.values(resource.operations)
      .filter((operation) => operation.fields !== undefined && operation.fields !== resource.fields)
      .map((operation) => [recordName(resource, operation), operation.fields ?? {}]),
  );
  return [...others].map(
    ([name, fields]) => html`<details><summary>Fields of ${name}</summary>${fieldsTable(fields)}</details>`,
  );
}

/** The routes beside the API, as the OpenAPI document has them. */
function serviceSection(): Html {
  // The stream has a chapter of its own.
  const beside = Object.entries(SERVICE_PATHS).filter(([path]) => !path.startsWith(API_PREFIX));
  const rows = beside.flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const { description } = operation as { description: string };
      return [html`${methodLabel(method.toUpperCase())} <code>${path}</code>`, description];
    }),
  );
  return html`<section class="guide" id="service"><h2><a href="#service">Tokens, files, health</a></h2>${table(['Route', 'What it does'], rows)}</section>\n`;
}

/** The table of contents: a column on wide screens, to unfold on narrow ones; a checkbox does that without a script. */
function navigation(): Html {
  return html`<nav aria-label="Contents"><input type="checkbox" id="contents"><label for="contents">Contents</label><div class="contents">
<p class="group">Guides</p>
<ul>${GUIDES.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>
<p class="group">Resources</p>
<ul>${RESOURCES.map(resourceEntry)}</ul>
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
function headingOf({ many, about, computed }: Resource): string {
  return computed ? about : capitalized(many);
}
