import type { Candidate, Completion, ValueGroup } from './model.ts';

/** The completion script for fish. */
export function fishScript({ next, flags, flagValues, arguments: args }: Completion): string {
  return `# fish completion for molar. Save as ~/.config/fish/completions/molar.fish

# Words that may follow the command words in $argv[1], with what they are for.
function __molar_next
    switch "$argv[1]"
${next.map(({ path, words }) => branch([quote(path)], print(words))).join('\n')}
    end
end

# Flags of the command in $argv[1].
function __molar_flags
${flags
  .map(
    (group) => `    switch "$argv[1]"
${branch(group.paths.map(quote), print(group.flags))}
    end`,
  )
  .join('\n')}
end

# What is typed after the flag $argv[2] of the command $argv[1]: its kind, then its words. Fails for a switch.
function __molar_values
    switch "$argv[1] $argv[2]"
${flagValues.map(valueBranch).join('\n')}
        case '*'
            return 1
    end
end

# What the command $argv[1] takes as arguments.
function __molar_arguments
    switch "$argv[1]"
${args.map(valueBranch).join('\n')}
    end
end

${ENGINE}`;
}

/** Text as one word of fish. */
function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function print(candidates: readonly Candidate[]): string {
  return `printf '%s\\t%s\\n' ${candidates.flatMap(({ word, about }) => [word, about].map(quote)).join(' ')}`;
}

function valueBranch({ keys, values }: ValueGroup): string {
  const patterns = keys.map((key) => quote(key));
  const words = 'words' in values ? values.words : [];
  return branch(patterns, `printf '%s\\n' ${[values.kind, ...words].map(quote).join(' ')}`);
}

function branch(patterns: readonly string[], action: string): string {
  return `        case ${patterns.join(' ')}\n            ${action}`;
}

const ENGINE = `# Offers what the kind $argv[3] allows; $argv[1] stands before the text $argv[2], the rest are words.
function __molar_kinds
    set -l before $argv[1]
    set -l current $argv[2]
    switch "$argv[3]"
        case words filter
            printf "$before%s\\n" $argv[4..-1]
        case list
            set -l given (string match -r '^.*,' -- $current)
            printf "$before$given%s\\n" $argv[4..-1]
        case sort
            set -l given (string match -r '^(?:.*,)?-?' -- $current)
            printf "$before$given%s\\n" $argv[4..-1]
        case profiles
            for name in (molar profiles list --format csv --no-header --fields name 2>/dev/null)
                printf "$before%s\\n" $name
            end
        case sql
            # What is typed begins with its quote, which no candidate has.
            set -l given (string replace -r '^[\\'"]' '' -- $current | string match -r '^.*[^A-Za-z0-9_]')
            for name in $argv[4..-1]
                echo "$before$given$name"
            end
        case queries
            for name in (molar autocomplete fish --queries 2>/dev/null)
                echo "$before$name"
            end
        case locations providers operatories
            set -l given (string match -r '^.*,' -- $current)
            for name in (molar autocomplete fish --names $argv[3] 2>/dev/null)
                echo "$before$given$name"
            end
        case file
            if test -n "$before"
                for path in (__fish_complete_path $current)
                    echo "$before$path"
                end
            else
                __fish_complete_path $current
            end
    end
end

function __molar_complete
    set -l tokens (commandline -opc)
    set -l current (commandline -ct)
    set -l route ''
    set -l left 0
    for token in $tokens[2..-1]
        if string match -q -- '-*' $token; or not __molar_next "$route" | string match -q -r -- '^'(string escape --style=regex -- $token)'\\t'
            set left 1
            break
        end
        set route (string trim -- "$route $token")
    end
    set -l values
    if string match -q -r -- '^--[^=]+=' $current
        set -l parts (string split -m 1 = -- $current)
        if set values (__molar_values "$route" $parts[1])
            __molar_kinds "$parts[1]=" "$parts[2]" $values
        end
        return
    end
    if string match -q -- '-*' $tokens[-1]; and set values (__molar_values "$route" $tokens[-1])
        __molar_kinds '' "$current" $values
    else if string match -q -- '-*' $current
        __molar_flags "$route"
    else
        # A command may have commands below it and take arguments too.
        if test $left -eq 0
            __molar_next "$route"
        end
        set values (__molar_arguments "$route")
        __molar_kinds '' "$current" $values
    end
end

complete -c molar -e
complete -c molar -f -a '(__molar_complete)'
`;
