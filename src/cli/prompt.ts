// `agtmux prompt`: prints what shows in a shell's prompt who needs a person. It reads a small file that the daemon keeps, with what
// the shell has itself: no program is started for it.

import { join } from 'node:path';
import { AgtmuxError } from '../model/errors.ts';
import { quoteSh } from '../text/quote.ts';
import { type Action, must, places } from './context.ts';
import { print } from './output.ts';

export const prompt: Action = async (parsed) => {
  const [shell = ''] = parsed.args;
  print(promptSnippet(shell, join(places().stateDir, 'prompt')).trimEnd());
};

export function promptSnippet(shell: string, path: string): string {
  const snippet = snippets[shell];
  if (snippet === undefined) throw new AgtmuxError('E_USAGE', `there is no prompt for ${shell}`);
  return snippet(must(quoteSh(path)));
}

/**
 * The daemon's process stands in front: what one left that is dead is not shown. `kill -0` asks, and sends nothing. Other parts of a
 * prompt show how the last command ended, so whoever reads `$?` after this one has to find it as it was.
 */
const readIt = (path: string): string => `  local last=$? pid words
  [ -r ${path} ] && read -r pid words <${path} && [ -n "$words" ] && kill -0 "$pid" 2>/dev/null`;

const snippets: Readonly<Record<string, (path: string) => string>> = {
  bash: (path) => `# agtmux for bash: eval "$(agtmux prompt bash)"
_agtmux_prompt() {
${readIt(path)} && AGTMUX_PROMPT="$words " || AGTMUX_PROMPT=
  return "$last"
}
PROMPT_COMMAND="_agtmux_prompt\${PROMPT_COMMAND:+; $PROMPT_COMMAND}"
PS1='\${AGTMUX_PROMPT}'"$PS1"
`,
  zsh: (path) => `# agtmux for zsh: eval "$(agtmux prompt zsh)"
_agtmux_prompt() {
${readIt(path)} && AGTMUX_PROMPT="%F{yellow}$words%f " || AGTMUX_PROMPT=
  return "$last"
}
autoload -Uz add-zsh-hook
add-zsh-hook precmd _agtmux_prompt
setopt prompt_subst
PROMPT='\${AGTMUX_PROMPT}'"$PROMPT"
`,
  fish: (path) => `# agtmux for fish: agtmux prompt fish | source
functions -q _agtmux_fish_prompt; or functions -c fish_prompt _agtmux_fish_prompt
function _agtmux_status
    return $argv[1]
end
function fish_prompt
    set -l last $status
    if test -r ${path}; and read -l pid words <${path}; and test -n "$words"; and kill -0 $pid 2>/dev/null
        set_color yellow; echo -n "$words "; set_color normal
    end
    _agtmux_status $last
    _agtmux_fish_prompt
end
`,
  starship: (path) => `# agtmux for starship: add this to ~/.config/starship.toml
[custom.agtmux]
shell = ["sh"]
when = true
style = "yellow"
command = '''[ -r ${path} ] && read -r pid words <${path} && kill -0 "$pid" 2>/dev/null && echo "$words"'''
`,
};
