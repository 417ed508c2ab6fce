import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { FAILURES } from '../../catalog/failures.ts';
import { isWritable } from '../../catalog/record.ts';
import { exampleAnswer } from '../openapi/answers.ts';
import { byStatus, failuresOf } from '../openapi/failures.ts';
import { notesOf } from '../openapi/operations.ts';
import { pathNames } from '../openapi/parameters.ts';
import { exampleRequest } from '../openapi/requests.ts';
import { curlOf, jsonCode } from './code.ts';
import { type Html, html } from './markup.ts';
import { filtersTable, table } from './tables.ts';

/** A method as a coloured label. */
export function methodLabel(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** One operation: what it does and takes on one side, an example of it on the other. */
export function operationSection(resource: Resource, operation: Operation): Html {
  const request = exampleRequest(resource, operation);
  return html`<article class="operation" id="${operation.id}">
<div class="words">
<h3><a href="#${operation.id}">${operation.summary}</a></h3>
<p class="route">${methodLabel(operation.method)} <code>${pathWithBreaks(operation)}</code></p>
<p class="access">Scope <code>${operation.scope}</code>${operation.rateLimited ? html`, <a href="#limits">rate limited</a>` : undefined}</p>
${notesOf(operation).map((note) => html`<p>${note}</p>`)}
${parametersPart(resource, operation)}
${filtersPart(resource, operation)}
${bodyPart(operation)}
${failuresPart(resource, operation)}
</div>
<div class="example">
<h4>Request</h4>
<pre><code>${curlOf(operation, request)}</code></pre>
<h4>Answer <span class="status">${operation.success}</span></h4>
<pre><code>${jsonCode(exampleAnswer(resource, operation))}</code></pre>
</div>
</article>
`;
}

/** A long path may break after each of its slashes. */
function pathWithBreaks(operation: Operation): Html[] {
  return (API_PREFIX + operation.path).split('/').map((part, index) => (index === 0 ? html`` : html`/<wbr>${part}`));
}

function parametersPart(resource: Resource, operation: Operation): Html | undefined {
  const { selectable, paging, parameters = {} } = operation;
  const rows: [string, string][] = [
    ...pathNames(operation).map((name): [string, string] => [name, `In the path: id of the ${resource.one}`]),
    ...Object.entries(parameters).map(([name, { values, required, about }]): [string, string] => [
      name,
      `${about}: ${values.join(' or ')}${required ? ' (required)' : ''}`,
    ]),
    ...(selectable
      ? [['responseFields', `Fields to answer${selectable === 'required' ? ' (required)' : ''}`] as [string, string]]
      : []),
    ...(paging ? [['pageSize', sizeNote(operation)] as [string, string]] : []),
    ...(paging?.style === 'cursor' ? [['lastId', 'Answer records after this id'] as [string, string]] : []),
    ...(paging
      ? [
          ['page', paging.pageIsDeprecated ? 'Page number, from 1; deprecated' : 'Page number, from 1'] as [
            string,
            string,
          ],
        ]
      : []),
  ];
  if (rows.length === 0) return undefined;
  return html`<h4>Parameters</h4>${table(
    ['Name', 'Meaning'],
    rows.map(([name, about]) => [html`<code>${name}</code>`, about]),
  )}`;
}

function sizeNote({ paging }: Operation): string {
  return paging?.capped ? `Records in the answer, ${paging.max} at most` : 'Records in a page';
}

/** The filter keys, once for a resource: operations with the same keys point to the first. */
function filtersPart(resource: Resource, operation: Operation): Html | undefined {
  if (operation.filters === undefined) return undefined;
  const first = Object.values(resource.operations).find((other) => other.filters === operation.filters);
  const note = operation.filterRequired ? ' (required)' : '';
  if (first !== undefined && first !== operation) {
    return html`<h4>Filter keys${note}</h4><p>The same as of <a href="#${first.id}">${first.summary}</a>.</p>`;
  }
  return html`<h4>Filter keys${note}</h4>${filtersTable(operation.filters)}`;
}

function bodyPart(operation: Operation): Html | undefined {
  if (operation.body === undefined) return undefined;
  const mode = operation.shape === 'update' ? 'update' : 'create';
  const writable = Object.entries(operation.body).filter(([, field]) => isWritable(field, mode));
  const required = writable.filter(([, field]) => mode === 'create' && field.required).map(([name]) => name);
  const optional = writable.map(([name]) => name).filter((name) => !required.includes(name));
  const names = (label: string, list: readonly string[]) =>
    list.length === 0
      ? undefined
      : html`<p class="names">${label}: ${list.map((name) => html`<code>${name}</code> `)}</p>`;
  return html`<h4>Body${operation.bodyIsArray ? ': an array' : ''}</h4>${names('Required', required)}${names('Optional', optional)}`;
}

function failuresPart(resource: Resource, operation: Operation): Html {
  const groups = [...byStatus(failuresOf(resource, operation))];
  return html`<details><summary>Errors: ${groups.map(([status]) => String(status)).join(', ')}</summary>${table(
    ['Status', 'Codes'],
    groups.map(([status, list]) => [
      String(status),
      html`${list.map((code) => html`<code title="${FAILURES[code].title}">${code}</code> `)}`,
    ]),
  )}</details>`;
}
