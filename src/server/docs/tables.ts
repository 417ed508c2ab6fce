import { FAILURES, type FailureCode } from '../../catalog/failures.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { OPERATOR_MEANINGS } from '../../catalog/operators.ts';
import type { Fields } from '../../catalog/record.ts';
import { keyNote } from '../openapi/parameters.ts';
import { fieldRows } from './describe.ts';
import { type Html, html } from './markup.ts';

/** A table; the first column heads its rows. On phones rows are stacked, so cells between first and last say what they are. */
export function table(heads: readonly string[], rows: readonly (readonly (Html | string)[])[]): Html {
  const cell = (content: Html | string, index: number) => {
    if (index === 0) return html`<th scope="row">${content}</th>`;
    const between = index < heads.length - 1;
    return html`<td${between ? html` data-head="${heads[index]}"` : undefined}>${content}</td>`;
  };
  const head = heads.map((text) => html`<th scope="col">${text}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map(cell)}</tr>`);
  return html`<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

const codes = (texts: readonly string[]): Html[] => texts.map((text) => html`<code>${text}</code> `);

export function fieldsTable(fields: Fields): Html {
  return table(
    ['Field', 'Type', 'Access', 'Meaning'],
    fieldRows(fields).map((row) => [
      html`<code>${row.name}</code>`,
      row.type,
      row.access,
      html`${row.about}${row.values.length > 0 ? html`<span class="values">${codes(row.values)}</span>` : undefined}`,
    ]),
  );
}

export function filtersTable(filters: FilterKeys): Html {
  return table(
    ['Key', 'Operators', 'Meaning'],
    Object.values(filters).map((key) => [
      html`<code>${key.key}</code>`,
      html`<span class="operators">${key.operators.map((operator) => html`<code title="${OPERATOR_MEANINGS[operator]}">${operator}</code> `)}</span>`,
      html`${keyNote(key)} <span class="expected">${key.value.expected}</span>`,
    ]),
  );
}

export function operatorsTable(): Html {
  return table(
    ['Operator', 'Meaning'],
    Object.entries(OPERATOR_MEANINGS).map(([operator, meaning]) => [html`<code>${operator}</code>`, meaning]),
  );
}

/** The failure table of the service, or the part of it that some codes make. */
export function failuresTable(shown: readonly FailureCode[] = Object.keys(FAILURES) as FailureCode[]): Html {
  return table(
    ['Code', 'Status', 'Meaning', 'What to do'],
    shown.map((code) => [
      html`<code>${code}</code>`,
      String(FAILURES[code].status),
      FAILURES[code].title,
      FAILURES[code].next,
    ]),
  );
}
