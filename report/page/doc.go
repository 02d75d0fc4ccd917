// Package page makes a report one HTML file that opens offline: first what
// holds and what deviates, in sentences beside the forest plot of the verdicts;
// then tables and figures beside the paper's, with intervals and verdicts, the
// claims, the assumptions, what the runs took and where they ran.
//
// [Write] reads records, what package report makes of them and what package
// evidence judges by them; it never trains anything and opens no file. Equal
// input gives equal bytes.
//
// # One file
//
// Style, program and pictures are in the file; its content security policy
// forbids the browser to fetch anything. Text from records and specs is escaped
// by html/template. Curves are drawn by uPlot (folder uplot: release 1.6.32 as
// published, MIT licence); without JavaScript, and in print, the pictures of
// package report stand in their place.
//
// # Sections of other packages
//
// A [Section] is plain data, so that a section is one function:
// [MultiverseSection], [TournamentSection].
package page
