// Draws what it is told of a session and sends back what is pressed. Every text is set as text.
const vscode = acquireVsCodeApi();
const at = (id) => document.getElementById(id);
const made = (name, className, text) => {
  const element = document.createElement(name);
  element.className = className;
  element.textContent = text;
  return element;
};
const button = (words, pressed, className = '') => {
  const element = made('button', className, words);
  element.type = 'button';
  element.addEventListener('click', () => {
    element.disabled = true;
    vscode.postMessage(pressed);
  });
  return element;
};

function drawHead(page) {
  const parts = [made('strong', '', page.state), made('span', '', ` ${page.title}`)];
  if (page.why !== '') parts.push(made('div', 'why', page.why));
  if (page.warning !== '') parts.push(made('div', 'warning', page.warning));
  at('head').replaceChildren(...parts);
}

function drawLines({ lines, showSpinner }) {
  const list = at('lines');
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  const articles = lines.map(({ role, text, note, isPartial }) => {
    const article = made('article', role, isPartial ? `${text} …` : text);
    if (note !== '') article.prepend(made('div', 'note', note));
    return article;
  });
  if (showSpinner) articles.push(made('article', 'notice', 'working …'));
  list.replaceChildren(...articles);
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

function drawAsk({ ask }) {
  if (ask === null) return at('ask').replaceChildren();
  const { ask_id } = ask;
  at('ask').replaceChildren(
    made('pre', '', ask.text),
    ...ask.options.map(({ id, words }) => button(words, { type: 'option', ask_id, option: id })),
    ...(ask.canApprove && ask.options.length === 0 ? [button('Approve', { type: 'approve', ask_id })] : []),
    ...(ask.canReject && ask.options.length === 0 ? [button('Reject', { type: 'reject', ask_id }, 'second')] : []),
  );
}

function drawForm(page) {
  const text = at('text');
  text.disabled = !page.inputEnabled;
  text.placeholder = page.inputHint;
  const say = made('button', '', 'Send');
  say.type = 'submit';
  say.disabled = !page.inputEnabled;
  at('buttons').replaceChildren(
    say,
    ...(page.showStop ? [button('Stop', { type: 'stop' }, 'second')] : []),
    ...(page.showResume ? [button('Resume', { type: 'resume' }, 'second')] : []),
    ...(page.showRetry ? [button('Try again', { type: 'retry' }, 'second')] : []),
    button('Show changes', { type: 'changes' }, 'second'),
  );
}

window.addEventListener('message', ({ data }) => {
  drawHead(data);
  drawLines(data);
  drawAsk(data);
  drawForm(data);
});
at('form').addEventListener('submit', (event) => {
  event.preventDefault();
  const text = at('text').value.trim();
  if (text === '') return;
  at('text').value = '';
  vscode.postMessage({ type: 'say', text });
});
vscode.postMessage({ type: 'ready' });
