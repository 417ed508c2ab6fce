import { API_PREFIX } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { FAILURES } from '../../catalog/failures.ts';
import { notesOf } from '../openapi/document.ts';
import { exampleRequest, exampleResponse } from '../openapi/examples.ts';
import { ownParameters } from '../openapi/parameters.ts';
import { byStatus, failuresOf } from '../openapi/responses.ts';
import { bodySchema } from '../openapi/schemas.ts';
import { curlOf, type Html, html, jsonCode } from './markup.ts';
import { codes, filtersTable, table } from './tables.ts';

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
<h4>Response <span class="status">${operation.success}</span></h4>
<pre><code>${jsonCode(exampleResponse(resource, operation))}</code></pre>
</div>
</article>
`;
}

/** A long path may break after each of its slashes. */
function pathWithBreaks(operation: Operation): Html[] {
  return (API_PREFIX + operation.path).split('/').map((part, index) => (index === 0 ? html`` : html`/<wbr>${part}`));
}

/** The parameters of the path and the query; the filter has a part of its own. */
function parametersPart(resource: Resource, operation: Operation): Html | undefined {
  const shown = ownParameters(resource.one, operation).filter(({ name }) => name !== 'filter');
  if (shown.length === 0) return undefined;
  const rows = shown.map(({ name, in: where, description, schema, required, deprecated }) => {
    const { enum: values = [] } = schema as { enum?: readonly string[] };
    const note = deprecated ? ' Deprecated.' : required && where === 'query' ? ' Required.' : '';
    return [name, html`${description}${values.length > 0 ? html` ${codes(values)}` : undefined}${note}`];
  });
  return html`<h4>Parameters</h4>${table(['Name', 'Meaning'], rows)}`;
}

/** The filter keys, once for a resource: operations with the same keys point to the first. */
function filtersPart(resource: Resource, operation: Operation): Html | undefined {
  if (operation.filters === undefined) return undefined;
  const first = Object.values(resource.operations).find((other) => other.filters === operation.filters);
  const note = operation.filterRequired ? ' (required)' : '';
  if (first !== undefined && first !== operation) {
    return html`<h4>Filter keys${note}</h4><p>The same as for <a href="#${first.id}">${first.summary}</a>.</p>`;
  }
  return html`<h4>Filter keys${note}</h4>${filtersTable(operation.filters)}`;
}

function bodyPart({ body, shape, bodyIsArray }: Operation): Html | undefined {
  if (body === undefined) return undefined;
  const { properties, required = [] } = bodySchema(body, shape === 'update' ? 'update' : 'create');
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const names = (label: string, list: readonly string[]) =>
    list.length === 0 ? undefined : html`<p class="names">${label}: ${codes(list)}</p>`;
  return html`<h4>Body${bodyIsArray ? ': an array' : ''}</h4>${names('Required', required)}${names('Optional', optional)}`;
}

function failuresPart(resource: Resource, operation: Operation): Html {
  const groups = [...byStatus(failuresOf(resource, operation))];
  return html`<details><summary>Errors: ${groups.map(([status]) => String(status)).join(', ')}</summary>${table(
    ['Status', 'Codes'],
    groups.map(([status, list]) => [
      html`${status}`,
      html`${list.map((code) => html`<code title="${FAILURES[code].title}">${code}</code> `)}`,
    ]),
  )}</details>`;
}
