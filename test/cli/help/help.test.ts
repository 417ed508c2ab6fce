import { describe, expect, it } from 'vitest';
import { PAGES, type Page, parsePage, readPage } from '../../../src/cli/help/pages.ts';
import { pagesText, pageText } from '../../../src/cli/help/text.ts';
import HelpOnCommands from '../../../src/commands/help.ts';
import { manifestCommands } from '../../house/commands.ts';
import { commandLinesOf, wrongCommandLine } from '../../house/docs.ts';
import { filesBelow, ROOT } from '../../house/tree.ts';
import { runCommand } from '../runcommand.ts';

const help = (...argv: string[]) => runCommand('help', HelpOnCommands, argv);
const pages = PAGES.map((page) => readPage(ROOT, page));
const pageNamed = (name: string) => pageText(pages.find((page) => page.name === name)!, 1000, 'sh');

describe('molar help', () => {
  it.each([
    ['filters', ['<>=  ', 'contains (any letter case)', 'patients:', 'patientStatus == !=', 'transactions:']],
    ['output', ['ndjson', 'xlsx', '--excel']],
    ['exit-codes', ['130', 'Interrupted (SIGINT).', 'auth.token_missing', '(401, exit 3)', 'local.file', 'Exit 9.']],
    ['environment', ['MOLAR_URL', 'HTTPS_PROXY', 'pageSize']],
    ['paging', ['1 to 500', 'appointmenthistories', 'transactionDate']],
    ['exports', ['documents, ', 'scheduletemplatereasons']],
    ['stream', ['PatientV1, ', 'READ_COMPLETE']],
    ['recurrence', ['FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE', 'FIRST, SECOND, THIRD, FOURTH, LAST']],
  ])('shows the page %s', async (name, texts) => {
    const ran = await help(name);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    for (const text of texts) expect(ran.stdout).toContain(text);
  });

  it.each([
    ['filtres', 'Did you mean molar help filters?'],
    ['exit-code', 'Did you mean molar help exit-codes?'],
    ['pateints', 'Did you mean molar help patients?'],
    ['aging', 'Did you mean molar help aging report?'],
    ['zzzzzzzzzzzz', 'There is no help on that.\n'],
  ])('refuses %s', async (word, text) => {
    const ran = await help(word);
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' });
    expect(ran.stderr).toContain(text);
  });
});

describe('parsePage', () => {
  it('reads headings, paragraphs, tables, code and generated parts', () => {
    const text =
      '# Title\n\n## One\n\nA `b`\nc.\n\n| T | M |\n| --- | --- |\n| `a` | b `c` |\n\n```sh\nx | y\n  z\n```\n\n## Two\n\n<!-- domain-types -->\n';
    const [one, two] = parsePage(text);
    expect(one).toEqual({
      heading: 'One',
      blocks: ['A b c.', { rows: [['a', 'b c']] }, { code: ['x | y', '  z'] }],
    });
    expect(two?.blocks).toEqual([expect.stringContaining('PatientV1, ')]);
  });
});

describe('every page', () => {
  it('has its file, and no file is without its page', () => {
    const files = filesBelow('docs/help', /\.md$/).map(({ path }) => path.replace(/^.*\/|\.md$/g, ''));
    expect(files.sort()).toEqual(PAGES.map(({ name }) => name as string).sort());
  });

  it('leaves no mark of Markdown in the terminal', () => {
    const texts = pages.map((page) => pageText(page, 80, 'sh')).join('\n');
    expect(texts.match(/`|<!--|\]\(|\*\*|^\s*#|^\s*\|/gm)).toBeNull();
  });

  it.each(pages.map((page) => [page.name, page] as const))(
    '%s fits 80 columns, but for lines to be typed',
    (_, page) => {
      const wide = pageText(page, 80, 'sh').split('\n');
      expect(wide.filter((line) => line.length > 80 && !line.startsWith('  $ '))).toEqual([]);
    },
  );

  it('writes lines for the shell, and those that it lacks as they are', () => {
    const page: Page = {
      name: 'x',
      about: 'y',
      sections: parsePage(
        "## A\n\n```sh\nmolar query 'a b'\n```\n\n```sh\ncreatedb molar\nmolar query 'a b'\n```\n\n```ini\n[Timer]\n```\n",
      ),
    };
    expect(pageText(page, 80, 'cmd').split('\n').slice(3)).toEqual([
      '  > molar query "a b"',
      '',
      '  $ createdb molar',
      "  $ molar query 'a b'",
      '',
      '  [Timer]',
      '',
    ]);
    expect(pageText(page, 80, 'pwsh')).toContain("  PS> molar query 'a b'\n");
  });

  it('shows command lines that exist', () => {
    const manifest = Object.fromEntries(manifestCommands().map((command) => [command.id, command]));
    const lines = pages.flatMap((page) =>
      page.sections.flatMap(({ blocks }) =>
        blocks.flatMap((block) => (typeof block === 'object' && 'code' in block ? block.code : [])),
      ),
    );
    const wrong = commandLinesOf(`\`\`\`\n${lines.join('\n')}\n\`\`\`\n`).map((line) =>
      wrongCommandLine(line, manifest),
    );
    expect(lines.length).toBeGreaterThan(4);
    expect(wrong.filter((problem) => problem !== undefined)).toEqual([]);
  });

  it('on the environment names every variable of ours that is read', () => {
    const read = filesBelow('src', /\.ts$/)
      .filter(({ path }) => /^src\/(?:cli|core)\/(?!help)/.test(path))
      .flatMap(({ text }) => [...text.matchAll(/\benv\.([A-Z_]+)\b/g)].map(([, name = '']) => name));
    const shown = pageNamed('environment');
    const unnamed = [...new Set(read)].filter((name) => name !== 'HOME' && !shown.includes(name));
    expect(read).toContain('MOLAR_URL');
    expect(unnamed).toEqual([]);
  });
});

describe('the list of pages', () => {
  it('names every page with what it is about', () => {
    const lines = pagesText(120).split('\n');
    const named = PAGES.map(({ name, about }) =>
      lines.find((line) => line.startsWith(`  molar help ${name} `) && line.endsWith(about)),
    );
    expect(named.filter((line) => line === undefined)).toEqual([]);
    expect(lines[0]).toBe('MORE HELP');
  });
});

describe('the text of a page', () => {
  const page: Page = {
    name: 'x',
    about: 'what it is',
    sections: [
      {
        heading: 'One',
        blocks: [
          'aa bb cc dd',
          {
            rows: [
              ['k', 'v w'],
              ['longer', 'x y z'],
            ],
          },
          { code: ['molar help a b c d e f'] },
        ],
      },
    ],
  };

  it('is wrapped', () => {
    expect(pageText(page, 14, 'sh')).toBe(
      [
        'molar help x:',
        'what it is',
        '',
        'ONE',
        '  aa bb cc dd',
        '',
        '  k       v w',
        '  longer  x y',
        '          z',
        '',
        '  $ molar help a b c d e f',
        '',
      ].join('\n'),
    );
  });
});
