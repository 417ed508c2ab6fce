import { dayAfter, instantOfWall, type WalkedRule, walkedDates, wallText } from '../recurrence/calendarwalk.ts';

/** What a request of the state machine sends; `wall` is a local start `YYYY-MM-DDTHH:mm`. */
export interface ModelBody {
  readonly title?: string;
  readonly wall?: string;
  readonly duration?: number;
  readonly allDay?: boolean;
  /** A rule without a start counts from the event's date; null ends a recurrence. */
  readonly rule?: (Omit<WalkedRule, 'start'> & { readonly start?: string }) | null;
}

export interface ModelEvent {
  readonly id: number;
  readonly title: string;
  readonly start: string;
  readonly duration: number;
  readonly allDay: boolean;
  readonly group: number | null;
  readonly rule: WalkedRule | null;
  readonly lastModified: string;
}

export type Target = 'SERIES' | 'OCCURRENCE';

/** A calendar in memory that does what D39 says, on the clock of the oracle. Refused requests change nothing. */
export class ModelCalendar {
  events: ModelEvent[] = [];
  private lastId: number;
  private lastGroup = 0;
  private readonly zone: string;

  constructor(zone: string, lastId: number) {
    this.zone = zone;
    this.lastId = lastId;
  }

  get highestId(): number {
    return this.lastId;
  }

  /** The id of the new event, undefined when it is refused. */
  create(body: ModelBody & { readonly wall: string }, now: string): number | undefined {
    const times = this.times({ start: instantOfWall(body.wall, this.zone), duration: 60, allDay: false }, body);
    const event = {
      id: this.lastId + 1,
      title: body.title ?? '',
      ...times,
      group: null,
      rule: null,
      lastModified: now,
    };
    const made = body.rule ? this.expanded(event, body.rule, undefined) : [event];
    if (made.length === 0 || made.some((each) => this.isOverMidnight(each))) return undefined;
    this.lastId += made.length;
    this.events.push(...made);
    return event.id;
  }

  /** False when it is refused. */
  update(id: number, target: Target, body: ModelBody, now: string): boolean {
    const before = this.find(id);
    const ruleChanges = this.changesRule(before, body.rule);
    if (ruleChanges && target === 'OCCURRENCE') return false;
    const after = { ...before, ...this.times(before, body), title: body.title ?? before.title };
    const later = target === 'SERIES' ? this.laterThan(before) : [];
    const changed = ruleChanges
      ? this.regenerated(before, after, body)
      : [after, ...later.map((each) => this.followed(each, before, after, body))];
    if (changed.length === 0 || changed.some((each) => this.isOverMidnight(each))) return false;
    const gone = new Set([id, ...later.map((each) => each.id)]);
    const was = new Map(this.events.map((each) => [each.id, JSON.stringify(each)]));
    this.events = [
      ...this.events.filter((each) => !gone.has(each.id)),
      ...changed.map((each) => (was.get(each.id) === JSON.stringify(each) ? each : { ...each, lastModified: now })),
    ];
    this.lastId = Math.max(this.lastId, ...changed.map((each) => each.id));
    return true;
  }

  remove(id: number, target: Target): void {
    const event = this.find(id);
    const gone = target === 'SERIES' ? [event, ...this.laterThan(event)] : [event];
    this.events = this.events.filter((each) => !gone.includes(each));
  }

  private find(id: number): ModelEvent {
    return this.events.find((each) => each.id === id)!;
  }

  private laterThan(event: ModelEvent): ModelEvent[] {
    const isLater = (each: ModelEvent) =>
      each.start > event.start || (each.start === event.start && each.id > event.id);
    return this.events.filter((each) => event.group !== null && each.group === event.group && isLater(each));
  }

  /** Local minutes since 1970 at which an event starts; whole days start at midnight whatever clocks do. */
  private wallOf({ start, allDay }: Pick<ModelEvent, 'start' | 'allDay'>): string {
    const text = wallText(start, this.zone).replace(' ', 'T').slice(0, 16);
    return allDay ? `${text.slice(0, 10)}T00:00` : text;
  }

  private times(before: Pick<ModelEvent, 'start' | 'duration' | 'allDay'>, body: ModelBody) {
    const start = body.wall === undefined ? before.start : instantOfWall(body.wall, this.zone);
    const allDay = body.allDay ?? before.allDay;
    if (!allDay) return { start, allDay, duration: body.duration ?? (before.allDay ? 60 : before.duration) };
    return { start: instantOfWall(this.wallOf({ start, allDay }), this.zone), allDay, duration: 1439 };
  }

  private isOverMidnight({ start, duration, allDay }: ModelEvent): boolean {
    const end = Date.parse(start) + duration * 60_000;
    return !allDay && wallText(start, this.zone).slice(0, 10) !== wallText(end, this.zone).slice(0, 10);
  }

  private followed(each: ModelEvent, before: ModelEvent, after: ModelEvent, body: ModelBody): ModelEvent {
    const allDay = body.allDay ?? each.allDay;
    const rest = { ...each, title: body.title ?? each.title, allDay };
    const duration = allDay ? 1439 : (body.duration ?? (each.allDay ? 60 : each.duration));
    const [from, to] = [this.wallOf(before), this.wallOf(after)];
    if (from === to && allDay === each.allDay) return { ...rest, duration };
    const minutes = (Date.parse(`${to}Z`) - Date.parse(`${from}Z`)) / 60_000;
    const days = (Date.parse(to.slice(0, 10)) - Date.parse(from.slice(0, 10))) / 86_400_000;
    const wall = this.wallOf(each);
    const moved = allDay
      ? `${dayAfter(wall.slice(0, 10), days)}T00:00`
      : new Date(Date.parse(`${wall}Z`) + minutes * 60_000).toISOString().slice(0, 16);
    return { ...rest, duration, start: instantOfWall(moved, this.zone) };
  }

  private changesRule({ rule }: ModelEvent, asked: ModelBody['rule']): boolean {
    if (asked === undefined) return false;
    if (asked === null || rule === null) return asked !== rule;
    const same = (left: unknown, right: unknown) => JSON.stringify(left) === JSON.stringify(right);
    return Object.entries(asked).some(([name, value]) => value !== undefined && !same(value, rule[name as 'type']));
  }

  private regenerated(before: ModelEvent, after: ModelEvent, { rule }: ModelBody): ModelEvent[] {
    if (!rule) return [{ ...after, rule: null, group: null }];
    const first = this.events.every(
      (each) => each.group !== before.group || each.id === before.id || this.laterThan(before).includes(each),
    );
    const from = before.group === null || first ? undefined : this.wallOf(after).slice(0, 10);
    const [head, ...rest] = this.expanded(after, rule, from);
    return head === undefined ? [] : [head, ...rest.map((each, index) => ({ ...each, id: this.lastId + 1 + index }))];
  }

  private expanded(event: ModelEvent, asked: NonNullable<ModelBody['rule']>, from: string | undefined): ModelEvent[] {
    const wall = this.wallOf(event);
    const rule: WalkedRule = { ...asked, start: asked.start ?? wall.slice(0, 10) };
    const dates = walkedDates(rule).filter((date) => from === undefined || date >= from);
    const group = ++this.lastGroup;
    return dates.map((date, index) => {
      const start = instantOfWall(`${date}${wall.slice(10)}`, this.zone);
      return { ...event, id: event.id + index, start, group, rule };
    });
  }
}
