package ledger

import "time"

// timeForm is the one form of a time: UTC, nine digits after the point, so that
// all have one length. It is read and written by hand, since package time would
// be a third of the cost of verifying a record.
const timeForm = "dddd-dd-ddTdd:dd:dd.dddddddddZ"

// appendTime writes t, whose year must have four digits.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	parts := [...]int{year, int(month), day, hour, minute, second, t.Nanosecond()}
	at := len(b)
	b = append(b, timeForm...)
	for i, part := len(b)-1, len(parts)-1; i >= at; i-- {
		if b[i] != 'd' {
			continue
		}
		b[i] = byte('0' + parts[part]%10)
		parts[part] /= 10
		if i == at || b[i-1] != 'd' {
			part--
		}
	}
	return b
}

// validTime reports whether b has the form and is a moment of the calendar.
func validTime(b []byte) bool {
	if len(b) != len(timeForm) {
		return false
	}
	for i, c := range b {
		if timeForm[i] == 'd' {
			if c < '0' || c > '9' {
				return false
			}
		} else if c != timeForm[i] {
			return false
		}
	}
	year, month, day := number(b[:4]), number(b[5:7]), number(b[8:10])
	if month < 1 || month > 12 || number(b[11:13]) > 23 || number(b[14:16]) > 59 || number(b[17:19]) > 59 {
		return false
	}
	days := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		days = 29
	}
	return 1 <= day && day <= days
}

// parseTime reads a valid time.
func parseTime(b []byte) time.Time {
	return time.Date(number(b[:4]), time.Month(number(b[5:7])), number(b[8:10]),
		number(b[11:13]), number(b[14:16]), number(b[17:19]), number(b[20:29]), time.UTC)
}

// number reads decimal digits.
func number(b []byte) (n int) {
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	return n
}
