// What an agent says, as Markdown: read by marked into a tree, and drawn from that tree by a list of what is allowed. Nothing
// is ever parsed as HTML, nothing is fetched, and a link shows where it leads. What is not on the list stands as it was written.

import { marked, type Token, type Tokens } from 'marked';
import { memo, type ReactNode } from 'react';
import { Scroll } from './basics.tsx';
import { block } from './text.tsx';

/** More than a person reads at once is shown as it is: the reader of a tree takes its time. */
const charsMax = 60_000;
/** Deeper ones are no text any more. */
const depthMax = 12;

export const Markdown = memo(function MarkdownText({ text }: { readonly text: string }): ReactNode {
  const safe = block(text);
  return safe.length > charsMax ? <pre>{safe}</pre> : <div className="markdown">{drawn(treeOf(safe), 0)}</div>;
});

function treeOf(text: string): readonly Token[] {
  try {
    return marked.lexer(text, { gfm: true });
  } catch {
    return [{ type: 'text', raw: text, text }];
  }
}

const drawn = (tokens: readonly Token[] | undefined, depth: number): ReactNode =>
  depth > depthMax
    ? (tokens ?? []).map(({ raw }) => raw).join('')
    : // A tree is drawn anew as a whole, so places are names enough.
      (tokens ?? []).map((token, place) => <Part key={`${place} ${token.type}`} token={token} depth={depth + 1} />);

interface PartProps {
  readonly token: Token;
  readonly depth: number;
}

/** Of a tree that marked made: each type has the fields of its own. */
const as = <Kind extends Tokens.Generic>(token: Token): Kind => token as Kind;

const parts: Readonly<Record<string, (token: Token, depth: number) => ReactNode>> = {
  space: () => null,
  // A definition of an address that links use.
  def: () => null,
  hr: () => <hr />,
  br: () => <br />,
  paragraph: (token, depth) => <p>{drawn(as<Tokens.Paragraph>(token).tokens, depth)}</p>,
  // The page has headings of its own, and this is none of them.
  heading: (token, depth) => <p className="md-heading">{drawn(as<Tokens.Heading>(token).tokens, depth)}</p>,
  blockquote: (token, depth) => <blockquote>{drawn(as<Tokens.Blockquote>(token).tokens, depth)}</blockquote>,
  strong: (token, depth) => <strong>{drawn(as<Tokens.Strong>(token).tokens, depth)}</strong>,
  em: (token, depth) => <em>{drawn(as<Tokens.Em>(token).tokens, depth)}</em>,
  del: (token, depth) => <del>{drawn(as<Tokens.Del>(token).tokens, depth)}</del>,
  codespan: (token) => <code>{as<Tokens.Codespan>(token).text}</code>,
  code: (token) => <Code token={as<Tokens.Code>(token)} />,
  list: (token, depth) => <List token={as<Tokens.List>(token)} depth={depth} />,
  table: (token, depth) => <Table token={as<Tokens.Table>(token)} depth={depth} />,
  link: (token, depth) => <Anchor token={as<Tokens.Link>(token)} depth={depth} />,
  image: (token) => {
    const { text, href } = as<Tokens.Image>(token);
    return `[picture: ${text === '' ? href : `${text}, ${href}`}]`;
  },
  escape: (token) => as<Tokens.Escape>(token).text,
  text: (token, depth) => {
    const { tokens, text } = as<Tokens.Text>(token);
    return tokens === undefined ? text : drawn(tokens, depth);
  },
};

function Part({ token, depth }: PartProps): ReactNode {
  return parts[token.type]?.(token, depth) ?? token.raw;
}

function Code({ token: { text, lang } }: { readonly token: Tokens.Code }): ReactNode {
  return (
    <Scroll className="md-code" label={lang === undefined || lang === '' ? 'Code' : `Code, ${lang}`}>
      <pre>{text}</pre>
    </Scroll>
  );
}

function List({ token, depth }: { readonly token: Tokens.List; readonly depth: number }): ReactNode {
  const items = token.items.map(({ raw, task, checked, tokens }, place) => (
    <li key={`${place} ${raw.length}`}>
      {task ? <span>{checked === true ? '☑ ' : '☐ '}</span> : null}
      {drawn(
        tokens.filter(({ type }) => type !== 'checkbox'),
        depth,
      )}
    </li>
  ));
  return token.ordered ? <ol start={token.start === '' ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token, depth }: { readonly token: Tokens.Table; readonly depth: number }): ReactNode {
  const cell = ({ tokens }: Tokens.TableCell): ReactNode => drawn(tokens, depth);
  return (
    <Scroll className="md-table" label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((one, place) => (
              <th key={`${place} ${one.text}`}>{cell(one)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, line) => (
            <tr key={`${line} ${row.length}`}>
              {row.map((one, place) => (
                <td key={`${place} ${one.text}`}>{cell(one)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** Opened by a press alone, and never under another name than its own: the address stands beside other words. */
function Anchor({ token, depth }: { readonly token: Tokens.Link; readonly depth: number }): ReactNode {
  const { href, text, tokens } = token;
  const inside = drawn(tokens, depth);
  if (!/^https?:\/\//i.test(href))
    return (
      <>
        {inside}
        {text === href ? '' : ` (${href})`}
      </>
    );
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer">
        {inside}
      </a>
      {text === href ? null : <span className="dim"> ({href})</span>}
    </>
  );
}
