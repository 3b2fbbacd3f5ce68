// Round ticks and short numbers.

function roundStep(rough) {
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const share = rough / power;
  return power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
}

function ticksBetween(low, high, count) {
  const step = roundStep(Math.max((high - low) / Math.max(1, count), 1e-300));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return { step, ticks };
}

// With a true minus sign, and none before zero.
function minus(text) { return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text.replace(/-/g, '\u2212'); }

// Ticks of one axis with the same number of digits.
function tickText(value, step) {
  const size = Math.max(Math.abs(value), step);
  if (size >= 1e5 || step < 1e-4) {
    if (Math.abs(value) < 1e-9 * step) return '0';
    const digits = Math.max(0, Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(step)));
    return minus(value.toExponential(Math.min(digits, 4)).replace('e+', 'e'));
  }
  return minus((Math.abs(value) < 1e-9 * step ? 0 : value).toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
}

// A number with about four digits.
function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '\u2013';
  if (!Number.isFinite(value)) return value > 0 ? '\u221e' : '\u2212\u221e';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e5 || size < 1e-3) return minus(value.toExponential(2).replace('e+', 'e'));
  return minus(value.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4));
}
