import { formatInstant } from '../../../catalog/fields/times.ts';
import { fairTurn, mapInTurns } from '../../fairscheduling.ts';
import { zoneOfLocation } from '../../references.ts';
import type { Handler } from '../../service.ts';
import { asideOf } from '../../store/store.ts';
import { instantIn } from '../../zones.ts';
import { wallAt } from '../days.ts';
import { groupsOf } from '../groups.ts';
import { type Block, blocksOf } from './blocks.ts';
import { type BusyTimes, busyTimes, freeParts, type Interval } from './busytimes.ts';
import { readOpeningsQuery } from './query.ts';

/** Pairs of a day that are looked at in one part of work. */
const GROUPS = 100;

/** GET `/scheduleopenings`: free slots by day, provider and operatory (D32). */
export const openingsHandler: Handler = async (request) => {
  const { service, organization } = request;
  const read = asideOf(service.store.read, organization.org);
  const query = readOpeningsQuery(request);
  await fairTurn(organization.org);
  const zone = (await zoneOfLocation(read, organization, query.location)) ?? organization.timezone;
  const blocks = await blocksOf(read, organization, zone, query);
  request.found.count = 0;
  if (blocks.length === 0) return { data: '[]' };
  const instantOf = instantIn(zone);
  const busyOf = await busyTimes(read, organization, {
    location: query.location,
    operatories: [...new Set(blocks.map(({ operatory }) => operatory))],
    providers: [...new Set(blocks.map(({ provider }) => provider))],
    from: instantOf(wallAt(query.startDate, 0)),
    to: instantOf(wallAt(query.startDate, query.days * 1440)),
  });
  const groups = groupsOf(blocks, ({ day, provider, operatory }) => `${day} ${provider} ${operatory}`);
  const itemOfGroup = (group: readonly Block[]) => itemOf(group, busyOf, query.minMinutes * 60_000);
  const all = await mapInTurns(organization.org, [...groups.values()], GROUPS, itemOfGroup);
  const items = all.filter(({ slots }) => slots.length > 0);
  request.found.count = items.length;
  return { data: JSON.stringify(items) };
};

/** What is free of the blocks of one pair on one day, each block by itself. */
function itemOf(blocks: readonly Block[], busyOf: BusyTimes, shortest: number) {
  const [{ provider, operatory, day }] = blocks as [Block];
  const slots = blocks.flatMap((block) =>
    freeParts(block, busyOf(provider, operatory))
      .filter(({ from, to }) => to - from >= shortest)
      .map((part) => slotOf(part, block)),
  );
  return { provider: { id: provider }, operatory: { id: operatory }, day, slots };
}

function slotOf({ from, to }: Interval, { template }: Block) {
  return {
    start: formatInstant(from),
    end: formatInstant(to),
    scheduleTemplateBookingType: template.bookingTypes.map((type) => ({ id: type })),
    scheduleTemplateReason: template.reasons.map(({ id }) => ({ id })),
  };
}
