import { describe, expect, it } from 'vitest';
import DocumentsUpdate from '../../../src/commands/documents/update.ts';
import type { OutgoingRequest } from '../../../src/core/transport/send.ts';
import { runCommand, type World } from '../../cli/runcommand.ts';
import { broken, problem, Script, type Step, success } from '../../core/transport/script.ts';

const document = (tags: readonly string[], name = 'scan.pdf') => success({ id: 5, name, tags, type: 'DocumentV1' });

async function update(argv: readonly string[], steps: readonly Step[], world: World = {}) {
  const script = new Script(...steps);
  const ran = await runCommand('documents:update', DocumentsUpdate, ['5', ...argv], { script, ...world });
  expect(script.left).toBe(0);
  const sent = script.requests.map(({ method, body }) =>
    body === undefined ? method : [method, JSON.parse(String(body))],
  );
  return { ...ran, sent };
}

describe('documents update --name', () => {
  const typed = (mimeType: string) => success({ id: 5, name: 'old.x', mimeType, tags: ['b'], type: 'DocumentV1' });

  it.each([
    ['the extension of its type', 'scan.pdf', 'PDF', 'scan'],
    ['it in capitals and twice', 'scan.pdf.PDF', 'PDF', 'scan'],
    ['an alias of its type', 'scan.jpg', 'JPEG', 'scan'],
    ['the extension of another type', 'scan.doc', 'PDF', 'scan.doc'],
    ['a type the catalog does not know', 'scan.pdf', 'TIFF', 'scan.pdf'],
  ])('sends the base of a name with %s', async (_name, name, mimeType, base) => {
    const ran = await update(['--name', name], [typed(mimeType), document([])]);
    expect(ran.sent).toEqual(['GET', ['PUT', { name: base }]]);
  });

  it('asks nothing about a name without an extension that is known', async () => {
    expect((await update(['--name', 'Dr. Lee 2026.03'], [document([])])).sent).toEqual([
      ['PUT', { name: 'Dr. Lee 2026.03' }],
    ]);
  });

  it('does so beside tags, and in a dry run', async () => {
    const steps = [typed('PDF'), typed('PDF'), document(['b', 'a']), document(['b', 'a'])];
    const ran = await update(['--name', 'card.pdf', '--add-tag', 'a'], steps);
    expect(ran.sent).toEqual(['GET', 'GET', ['PUT', { name: 'card', tags: ['b', 'a'] }], 'GET']);
    const shown = await update(['--name', 'card.pdf', '--dry-run'], [typed('PDF')]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ body: { name: 'card' } });
  });
});

describe('documents update --add-tag and --remove-tag', () => {
  it('reads the tags, changes them, writes all, and looks again', async () => {
    const ran = await update(
      ['--add-tag', 'Reviewed', '--remove-tag', 'new', '--fields', 'tags', '--json'],
      [document(['X-Ray', 'New']), document(['X-Ray', 'Reviewed']), document(['X-Ray', 'Reviewed'])],
    );
    expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
    expect(JSON.parse(ran.stdout)).toEqual({ tags: ['X-Ray', 'Reviewed'] });
    expect(ran.sent).toEqual(['GET', ['PUT', { tags: ['X-Ray', 'Reviewed'] }], 'GET']);
  });

  it('goes with the other fields', async () => {
    const changed = document(['b', 'a'], 'card.pdf');
    const ran = await update(
      ['--add-tag', 'a', '--name', 'card'],
      [document(['b']), changed, document(['b', 'a'], 'card.pdf')],
    );
    expect(ran.sent[1]).toEqual(['PUT', { name: 'card', tags: ['b', 'a'] }]);
    const renamed = [document(['a']), document(['a'], 'card.pdf'), document(['a'], 'card.pdf')];
    expect((await update(['--add-tag', 'A', '--name', 'card'], renamed)).sent[1]).toEqual(['PUT', { name: 'card' }]);
  });

  it('sends nothing when nothing would change, and says so', async () => {
    const ran = await update(
      ['--add-tag', 'x-ray', '--remove-tag', 'New', '--fields', 'id,tags', '--json'],
      [document(['X-Ray'])],
    );
    expect([ran.exitCode, JSON.parse(ran.stdout), ran.sent]).toEqual([0, { id: 5, tags: ['X-Ray'] }, ['GET']]);
    expect(ran.stderr).toBe('Document 5 has these tags already: there is nothing to send.\n');
  });

  it('makes the change again when somebody else wrote over it', async () => {
    const ran = await update(
      ['--add-tag', 'a', '--name', 'card'],
      [
        document(['x']),
        document(['x', 'a']),
        document(['x', 'b']),
        document(['x', 'b', 'a']),
        document(['x', 'b', 'a']),
      ],
    );
    expect(ran.exitCode).toBe(0);
    expect(ran.sent).toEqual([
      'GET',
      ['PUT', { name: 'card', tags: ['x', 'a'] }],
      'GET',
      ['PUT', { tags: ['x', 'b', 'a'] }],
      'GET',
    ]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ tags: ['x', 'b', 'a'] });
  });

  it('gives up when others keep undoing it', async () => {
    const round = () => [document(['a']), document([])];
    const ran = await update(['--add-tag', 'a'], [document([]), ...round(), ...round(), ...round()]);
    expect(ran).toMatchObject({ exitCode: 5, stdout: '', stderr: expect.stringContaining('were written 3 times') });
  });

  it('counts a change as made that cannot be looked at', async () => {
    const lost = Array.from({ length: 6 }, () => broken(true));
    const ran = await update(['--add-tag', 'a'], [document([]), document(['a']), ...lost]);
    expect([ran.exitCode, JSON.parse(ran.stdout).tags]).toEqual([0, ['a']]);
  });

  it('shows the request in a dry run, for which it only reads', async () => {
    const ran = await update(['--add-tag', 'a', '--dry-run'], [document(['x'])]);
    expect([ran.exitCode, ran.sent]).toEqual([0, ['GET']]);
    expect(JSON.parse(ran.stdout)).toMatchObject({
      method: 'PUT',
      url: 'https://api.example.com/api/v1/documents/5',
      body: { tags: ['x', 'a'] },
    });
    const same = await update(['--add-tag', 'X', '--dry-run'], [document(['x'])]);
    expect([same.exitCode, same.stdout]).toEqual([0, '']);
    expect(same.stderr).toContain('nothing to send');
  });

  it.each([
    ['a tag of both', ['--add-tag', 'a', '--remove-tag', 'A'], 'name the same tag.'],
    ['no tag', ['--remove-tag', ' '], '--remove-tag must name a tag.'],
    ['all tags as well', ['--add-tag', 'a', '--tag', 'b'], '--tags replaces all of them. Give one or the other.'],
    [
      'all tags as a value',
      ['--remove-tag', 'a', '--set', 'tags=b'],
      '--tags replaces all of them. Give one or the other.',
    ],
    ['a tag too long', ['--add-tag', 'x'.repeat(51)], 'tags'],
    ['a field that is none', ['--add-tag', 'a', '--set', 'color=red'], 'color'],
  ])('refuses %s before anything is sent', async (_name, argv, message) => {
    expect(await update(argv, [])).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
      sent: [],
    });
  });

  it('fails as reading does', async () => {
    const ran = await update(['--add-tag', 'a'], [problem(404, 'record.not_found', 'id', 'Gone.')]);
    expect([ran.exitCode, ran.stdout]).toEqual([4, '']);
  });

  it('leaves other updates one request', async () => {
    const only = (request: OutgoingRequest) => {
      expect(request.method).toBe('PUT');
      return document(['b']);
    };
    expect((await update(['--tag', 'b'], [only])).sent).toEqual([['PUT', { tags: ['b'] }]]);
  });
});
