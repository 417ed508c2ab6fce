import { STORED_RESOURCES } from '../../../catalog/catalog.ts';
import { countedPlaces, keptPlaces, type PlaceCount } from '../../store/counts.ts';
import { layoutOf } from '../../store/layout.ts';
import type { CheckContext, CheckFindings } from './context.ts';

/** The counts of records that are kept, against the records. */
export async function checkCounts(context: CheckContext, book: CheckFindings): Promise<void> {
  const findings = book.of('counts');
  for (const resource of STORED_RESOURCES) {
    const layout = layoutOf(resource);
    const kept = byPlace(await context.read.all<PlaceCount>(keptPlaces(layout)));
    const found = byPlace(await context.read.all<PlaceCount>(countedPlaces(layout)));
    for (const [name, { org, place }] of new Map([...kept, ...found])) {
      const organization = context.organization(org);
      // Rows of no organization are found as such (`checkOrganizations`).
      if (organization === null) continue;
      findings.counted(1);
      const [is, was] = [found.get(name)?.records ?? 0, kept.get(name)?.records ?? 0];
      if (is === was) continue;
      const where = place === 0 ? '' : ` at location ${place}`;
      const message = `says ${was} ${resource.many}${where}, but there are ${is}`;
      findings.report({ table: 'record_counts', organization, id: layout.table, message });
    }
    await context.turn('counts', found.size);
  }
}

function byPlace(counts: readonly PlaceCount[]): Map<string, PlaceCount> {
  return new Map(counts.map((count) => [`${count.org} ${count.place}`, count]));
}
